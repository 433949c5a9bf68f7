// Attached files, pictures of the web, folders and instructions.
import type { ErrorCode } from '../en';

export const fileErrorsZhHant = {
  file_empty: '這個檔案是空的。',
  file_too_large: '一個檔案最多 {mb} MB。請附上較小的檔案，或放到工具能讀取的地方。',
  file_image_too_large: '一張圖片最多 {mb} MB，因為模型不接受更大的圖片。請縮小後再試。',
  file_too_many: '一則訊息最多 {max} 個檔案。',
  files_too_large_to_export: '這個對話的檔案超過 {mb} MB。請在不含檔案的情況下匯出。',
  file_encrypted: '這個文件有密碼保護。請去掉密碼後重新附上。',
  file_damaged: '無法讀取這個文件：它已損壞，或格式與名稱不符。',
  file_without_text: '這個文件沒有文字，只有頁面的圖片。請改為附上各頁的圖片。',
  file_unpacks_too_large: '這個文件解壓縮後太大。',
  file_reader_busy: '正在讀取其他文件。請過一分鐘再附上這個。',
  file_too_slow: '未能在 {seconds} 秒內讀出這個文件的文字。請附上其中一部分。',
  file_reader: '這台伺服器無法讀取文件：{why}',
  file_not_written: '無法把檔案放進這個對話的資料夾：{why}',
  not_bytes: '請把檔案作為請求內文送出，並帶上標頭 `Content-Type: application/octet-stream`。',
  image_address: '不會取得這張圖片：{why}',
  image_unreachable: '無法取得這張圖片：{why}',
  image_status: '它的伺服器回應了 {status}，而不是圖片。',
  image_unknown_type: '這個位址上的內容不是 PNG、JPEG、GIF 或 WebP 圖片。',
  image_too_large: '這張圖片超過 {mb} MB。',
  folder_name: '資料夾名稱為一行，1 到 {max} 個字元。',
  instructions_too_long: '指示最多 {max} 個字元。',
} satisfies Partial<Record<ErrorCode, string>>;
