import type { BuiltinTexts } from './builtinTexts';

export const builtinsZhHans: BuiltinTexts = {
  sources: {
    time: '时间',
    math: '数学',
    files: '文件',
    web: '网络',
    flow: '流程',
    results: '结果',
    'tool search': '工具搜索',
  },
  tools: {
    tool_search: {
      title: '查找工具',
      description: '按用途查找工具，可以限定来源。',
    },
    tool_describe: {
      title: '查看工具说明',
      description: '给出找到的工具的完整说明和参数。',
    },
    tool_call: {
      title: '调用工具',
      description: '按 id 调用找到的工具。',
    },
    builtin_current_time: {
      title: '当前时间',
      description: '告诉你现在的日期、星期和时间，可以是本地，也可以是任何城市、国家或时区。',
    },
    builtin_convert_time: {
      title: '换算时间',
      description: '把一个地方的时间换算成另一个地方的时间，会考虑夏令时。',
    },
    builtin_calculate: {
      title: '计算',
      description:
        '计算算术表达式，尽可能给出精确结果：+ - * / ^ ! mod、括号、百分比、pi、e、sqrt、sin、ln、log10、abs、round、min、max、sum、avg，以及单位。',
    },
    builtin_list_files: {
      title: '列出文件',
      description: '列出工作区某个文件夹中的文件和文件夹，以及大小。',
    },
    builtin_read_file: {
      title: '读取文件',
      description: '读取工作区中的文本文件，可以是全部，也可以是其中几行。',
    },
    builtin_write_file: {
      title: '写入文件',
      description:
        '在工作区写入文本文件，需要时创建文件夹；除非 `append` 为 true，否则会替换原有内容。',
    },
    builtin_search_files: {
      title: '搜索文件',
      description: '在工作区的文本文件中查找包含某段文字的行，不区分大小写。',
    },
    builtin_fetch_url: {
      title: '读取网址',
      description: '读取网页或文件，返回可读文本、JSON 或图片。',
    },
    builtin_web_search: {
      title: '网络搜索',
      description: '搜索网络，返回标题、网址和摘录。',
    },
    builtin_sleep: {
      title: '等待',
      description: '等待若干秒，最多 300 秒，例如等别处的任务继续。',
    },
    builtin_claim_done: {
      title: '宣布完成',
      description: '声明整个任务已完成并结束这一轮。在其他事情都做完后调用一次。',
    },
    builtin_read_result: {
      title: '阅读结果',
      description: '阅读过长而未完整显示的输出中的一页。',
    },
    builtin_search_result: {
      title: '搜索结果',
      description: '在过长而未完整显示的输出中查找某段文字出现的位置，不区分大小写。',
    },
  },
};
