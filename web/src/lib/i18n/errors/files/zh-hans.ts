// Attached files, pictures of the web, folders and instructions.
import type { ErrorCode } from '../en';

export const fileErrorsZhHans = {
  file_empty: '这个文件是空的。',
  file_too_large: '一个文件最多 {mb} MB。请附上较小的文件，或放到工具能读取的地方。',
  file_image_too_large: '一张图片最多 {mb} MB，因为模型不接受更大的图片。请缩小后再试。',
  file_too_many: '一条消息最多 {max} 个文件。',
  files_too_large_to_export: '这个对话的文件超过 {mb} MB。请在不含文件的情况下导出。',
  file_encrypted: '这个文档有密码保护。请去掉密码后重新附上。',
  file_damaged: '无法读取这个文档：它已损坏，或格式与名称不符。',
  file_without_text: '这个文档没有文字，只有页面的图片。请改为附上各页的图片。',
  file_unpacks_too_large: '这个文档解压后太大。',
  file_reader_busy: '正在读取其他文档。请过一分钟再附上这个。',
  file_too_slow: '未能在 {seconds} 秒内读出这个文档的文字。请附上其中一部分。',
  file_reader: '这台服务器无法读取文档：{why}',
  file_not_written: '无法把文件放进这个对话的文件夹：{why}',
  not_bytes: '请把文件作为请求正文发送，并带上请求头 `Content-Type: application/octet-stream`。',
  image_address: '不会获取这张图片：{why}',
  image_unreachable: '无法获取这张图片：{why}',
  image_status: '它的服务器返回了 {status}，而不是图片。',
  image_unknown_type: '这个地址上的内容不是 PNG、JPEG、GIF 或 WebP 图片。',
  image_too_large: '这张图片超过 {mb} MB。',
  folder_name: '文件夹名称为一行，1 到 {max} 个字符。',
  instructions_too_long: '指令最多 {max} 个字符。',
} satisfies Partial<Record<ErrorCode, string>>;
