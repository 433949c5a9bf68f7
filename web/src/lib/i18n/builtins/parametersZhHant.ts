import type { ParameterTexts } from './builtinParameters';

const place = '英文或中文的城市、國家，IANA 時區名稱或 UTC 時差。';
const inWorkspace = '相對於工作區，資料夾之間用 `/`。';
const blobId = '過長而未完整顯示的輸出，末尾的說明裡有它的 blob_id。';

export const parametersZhHant: ParameterTexts = {
  builtin_calculate: { expression: '要計算的式子。角度用弧度，小數用點。' },
  builtin_claim_done: { summary: '用一兩句話說明做了什麼。' },
  builtin_convert_time: {
    time: '`from` 那裡鐘上的時間。不寫日期則指當地今天。',
    from: `已知時間的地方：${place}`,
    to: `想知道時間的地方：${place}`,
  },
  builtin_current_time: { timezone: `哪裡：${place}不填則為伺服器所在地。` },
  builtin_fetch_url: { url: '完整網址，含 http:// 或 https://。' },
  builtin_list_files: { path: `資料夾，${inWorkspace}不填則為工作區本身。` },
  builtin_read_file: {
    path: `檔案，${inWorkspace}`,
    offset: '從第幾行讀起，從 1 數起。',
    limit: '讀多少行，不填則為 2000。',
  },
  builtin_read_result: {
    blob_id: blobId,
    offset: '從哪裡讀起，以位元組計，不填則從頭開始。',
    limit: '讀多少，以位元組計，不填則為 12000。',
  },
  builtin_search_files: {
    query: '要找的文字：一行普通文字，不是模式。',
    path: `在哪個檔案或資料夾裡找，${inWorkspace}不填則為整個工作區。`,
  },
  builtin_search_result: {
    blob_id: blobId,
    query: '要找的文字：普通文字，不是模式。',
    page: '顯示第幾組 10 處，從 1 數起，不填則為第一組。',
  },
  builtin_sleep: { seconds: '等多久，以秒計。' },
  builtin_write_file: {
    path: `檔案，${inWorkspace}`,
    content: '要寫入的文字，與檔案中應有的完全一樣。',
    append: '加在檔案末尾，而不是取代它。',
  },
};
