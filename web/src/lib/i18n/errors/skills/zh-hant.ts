// Skills: why one cannot be installed or used. Told to a person; the model reads the English.
import type { ErrorCode } from '../en';

export const skillErrorsZhHant = {
  // 使用
  skill_removed: '技能 {name} 已被移除或關閉。',
  skill_tool_gone: '技能 {name} 已更新，不再有這個工具。',
  skill_not_set_up: '技能 {name} 無法使用：{why} 可在「設定 → 技能」中修復。',
  skill_setting_up: '技能 {name} 的套件還在安裝，請一分鐘後再試。',
  skill_value_missing: '技能 {name} 需要 `{variable}` 的值。可在「設定 → 技能」中填寫。',
  skill_value_invalid:
    '技能 {name} 中 `{variable}` 的值不能放進請求標頭：它必須是一行。可在「設定 → 技能」中變更。',
  skill_no_builtin: '這裡沒有內建工具 `{tool}`。',
  skill_no_file: '這個技能沒有檔案 `{file}`。它有：{files}',
  skill_file_not_text: '`{file}` 不是文字，可以用指令碼讀取。',
  skill_no_script: '`{file}` 不是這個技能的指令碼。它的指令碼有：{files}',
  skill_no_program: '伺服器上沒有安裝 `{program}`，或沙箱看不到它。請先安裝。',
  skill_sandbox: '無法啟動執行指令碼的沙箱：{why}。',
  skill_exited: '指令碼失敗，結束代碼 {code}：{said}',
  skill_signaled: '指令碼被訊號 {signal} 終止，很可能是記憶體超出限制。{said}',
  skill_timed_out: '指令碼執行超過 {seconds} 秒，已終止。',
  skill_cpu_limit: '指令碼使用的處理器時間超出限制，已終止。',
  skill_output_limit: '指令碼的輸出超出限制，已終止。請減少內容，或讓它寫入檔案。',
  skill_raised: '工具失敗：{said}',
  skill_worker_ended: '工具的程式在回答之前就結束了。{said}',

  // 安裝套件
  setup_no_python:
    '伺服器上沒有帶 `venv` 的 Python 3。請安裝它（Debian：`apt install python3-venv`）或 `uv`，然後重試。',
  setup_no_node: '伺服器上沒有 `npm`。請安裝 Node.js，然後重試。',
  setup_no_network:
    '{program} 無法連接套件索引。請檢查此伺服器的網路，或設定鏡像（`PIP_INDEX_URL`、`npm_config_registry`）後重試。它的訊息：{said}',
  setup_failed: '{program} 無法安裝套件：{said}',
  setup_timed_out: '安裝套件超過 {seconds} 秒。請檢查伺服器的網路，然後重試。',
  setup_sandbox: '無法啟動安裝套件的沙箱：{why}。',
  setup_files: '無法寫入技能的檔案：{why}。',

  // 安裝與設定
  skill_no_input:
    '請說明技能在哪裡：伺服器上的資料夾或壓縮檔（`path`），或檔案及其名稱（`fileName` 和 Base64 的 `content`）。',
  skill_content: '檔案不是 Base64。',
  skill_path_for_admins: '只有管理員可以從伺服器上的資料夾安裝。請改為上傳 .zip 檔案。',
  skill_no_such_path: '伺服器上沒有 {path}。請寫出資料夾、壓縮檔或 SKILL.md 的完整路徑。',
  skill_no_origin: '這個技能不是從資料夾安裝的。請用檔案安裝新版本。',
  skill_package: '{file} 第 {line} 行：{why}',
  skill_package_file: '{file}：{why}',
  skill_nothing_chosen: '所選的技能都已不是剛才顯示的樣子。請重新檢視。',
  skill_programs_for_admins:
    '{name} 會在伺服器上執行程式或內建工具。只有管理員可以安裝這樣的技能。',
  skill_team_for_admins: '只有管理員可以把技能與所有人共用。',
  skill_owner_is_no_admin: '它會執行程式，而安裝它的人已不再是管理員。',
  skill_update_failed: '新版本無法就緒，因此繼續使用先前的版本：{why}',
  skill_not_yours: '只有安裝者或管理員可以變更這個技能。',
  skill_network_for_admins: '只有管理員可以允許技能的指令碼使用網路。',
  skill_no_such_builtin: '工具 `{tool}` 對應的內建工具 `{builtin}` 在這裡不存在。',
  skill_no_such_variable: '這個技能沒有要求 `{name}` 的值。',
  skill_value_too_long: '`{name}` 的值超過 {max} 位元組。',
  skill_settings: '設定不符合要求：{why}',
  skill_no_such_file: '這個技能沒有檔案 `{file}`。',
  skill_no_such_version: '技能的這個版本已不再保留。',
  skill_language:
    '程式碼既不是帶 `Tools` 類別的 Python，也不是匯出函式的 JavaScript。請說明語言：`python` 或 `node`。',
  skill_code_too_long: '程式碼超過 {max} 位元組。',
  skill_code: '{why}',
  skill_check_failed: '{why}',
  skill_files: '無法寫入技能的檔案：{why}。',
} satisfies Partial<Record<ErrorCode, string>>;
