import type { BuiltinTexts } from './builtinTexts';

export const builtinsZhHant: BuiltinTexts = {
  sources: {
    time: '時間',
    math: '數學',
    files: '檔案',
    web: '網路',
    flow: '流程',
    results: '結果',
    'tool search': '工具搜尋',
  },
  tools: {
    tool_search: {
      title: '尋找工具',
      description: '按用途尋找工具，可以限定來源。',
    },
    tool_describe: {
      title: '檢視工具說明',
      description: '給出找到的工具的完整說明和參數。',
    },
    tool_call: {
      title: '呼叫工具',
      description: '按 id 呼叫找到的工具。',
    },
    builtin_current_time: {
      title: '目前時間',
      description: '告訴你現在的日期、星期和時間，可以是本地，也可以是任何城市、國家或時區。',
    },
    builtin_convert_time: {
      title: '換算時間',
      description: '把一個地方的時間換算成另一個地方的時間，會考慮日光節約時間。',
    },
    builtin_calculate: {
      title: '計算',
      description:
        '計算算術式，盡可能給出精確結果：+ - * / ^ ! mod、括號、百分比、pi、e、sqrt、sin、ln、log10、abs、round、min、max、sum、avg，以及單位。',
    },
    builtin_list_files: {
      title: '列出檔案',
      description: '列出工作區某個資料夾中的檔案和資料夾，以及大小。',
    },
    builtin_read_file: {
      title: '讀取檔案',
      description: '讀取工作區中的文字檔，可以是全部，也可以是其中幾行。',
    },
    builtin_write_file: {
      title: '寫入檔案',
      description:
        '在工作區寫入文字檔，需要時建立資料夾；除非 `append` 為 true，否則會取代原有內容。',
    },
    builtin_search_files: {
      title: '搜尋檔案',
      description: '在工作區的文字檔中尋找包含某段文字的行，不分大小寫。',
    },
    builtin_fetch_url: {
      title: '讀取網址',
      description: '讀取網頁或檔案，傳回可讀文字、JSON 或圖片。',
    },
    builtin_web_search: {
      title: '網路搜尋',
      description: '搜尋網路，傳回標題、網址和摘錄。',
    },
    builtin_sleep: {
      title: '等待',
      description: '等待若干秒，最多 300 秒，例如等別處的工作繼續。',
    },
    builtin_claim_done: {
      title: '宣布完成',
      description: '聲明整個任務已完成並結束這一輪。在其他事情都做完後呼叫一次。',
    },
    builtin_read_result: {
      title: '閱讀結果',
      description: '閱讀過長而未完整顯示的輸出中的一頁。',
    },
    builtin_search_result: {
      title: '搜尋結果',
      description: '在過長而未完整顯示的輸出中尋找某段文字出現的位置，不分大小寫。',
    },
  },
};
