import type { ParameterTexts } from './builtinParameters';

const place = '英文或中文的城市、国家，IANA 时区名或 UTC 偏移。';
const inWorkspace = '相对于工作区，文件夹之间用 `/`。';
const blobId = '过长而未完整显示的输出，末尾的说明里有它的 blob_id。';

export const parametersZhHans: ParameterTexts = {
  builtin_calculate: { expression: '要计算的式子。角度用弧度，小数用点。' },
  builtin_claim_done: { summary: '用一两句话说明做了什么。' },
  builtin_convert_time: {
    time: '`from` 那里钟上的时间。不写日期则指当地今天。',
    from: `已知时间的地方：${place}`,
    to: `想知道时间的地方：${place}`,
  },
  builtin_current_time: { timezone: `哪里：${place}不填则为服务器所在地。` },
  builtin_fetch_url: { url: '完整网址，含 http:// 或 https://。' },
  builtin_list_files: { path: `文件夹，${inWorkspace}不填则为工作区本身。` },
  builtin_read_file: {
    path: `文件，${inWorkspace}`,
    offset: '从第几行读起，从 1 数起。',
    limit: '读多少行，不填则为 2000。',
  },
  builtin_read_result: {
    blob_id: blobId,
    offset: '从哪里读起，以字节计，不填则从头开始。',
    limit: '读多少，以字节计，不填则为 12000。',
  },
  builtin_search_files: {
    query: '要找的文字：一行普通文字，不是模式。',
    path: `在哪个文件或文件夹里找，${inWorkspace}不填则为整个工作区。`,
  },
  builtin_search_result: {
    blob_id: blobId,
    query: '要找的文字：普通文字，不是模式。',
    page: '显示第几组 10 处，从 1 数起，不填则为第一组。',
  },
  builtin_sleep: { seconds: '等多久，以秒计。' },
  builtin_write_file: {
    path: `文件，${inWorkspace}`,
    content: '要写入的文字，与文件中应有的完全一样。',
    append: '加在文件末尾，而不是替换它。',
  },
};
