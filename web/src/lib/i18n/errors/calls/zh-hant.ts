// Calls of tools: why one was not made, or gave no result. Told to a person; the model reads the
// English.
import type { ErrorCode } from '../en';

export const callErrorsZhHant = {
  // 呼叫的結束
  call_cancelled: '呼叫完成之前被停止了。',
  call_refused: '這次呼叫被拒絕，沒有執行。',
  call_lost: '呼叫過程中 Tenon 重新啟動了。它可能已經生效，也可能沒有：重複之前請先確認。',
  call_unanswered: '沒有人回答是否允許這次呼叫，所以沒有執行。',
  call_turn_ended: '這次呼叫沒有執行：在有人允許之前，回答已經結束。',
  call_without_client_result: '應當進行此呼叫的用戶端沒有給出結果。它可能已經生效，也可能沒有。',
  call_too_many: '一次最多執行 {max} 個呼叫，其餘的沒有執行。',
  quota_of_chat: '這個對話的檔案會超過 {mb} MB 的上限。請刪除一些，或減少內容。',
  quota_of_user:
    '這位使用者所有對話的檔案和輸出會超過 {mb} MB 的上限。請刪除不再需要的對話，或請管理員放寬。',
  quota_of_disk: '無法寫入。{why}',
  call_unknown_tool: '沒有工具 `{id}`。最接近的是 `{nearest}`。',
  call_no_tools: '沒有工具 `{id}`，現在也沒有其他可用的工具。',
  call_source_failed: '{name} 現在無法使用：{why}',
  call_source_offline: '無法連線 {name}：執行它的人不在線上。',
  call_source_off: '{name} 已關閉。',
  call_input_invalid: '輸入不符合這個工具的格式定義：{problems}。',
  call_arguments_not_json: '參數不是 JSON 物件：{why}。請給出一個符合格式定義的 JSON 物件。',
  call_arguments_not_object: '參數應是一個 JSON 物件，而不是 {value}。',
  call_input_too_complex: '無法在限度內檢查這個輸入。請用更小或更簡單的輸入，或換一個工具。',
  call_input_unchecked: '無法檢查這個輸入是否符合格式定義。請換別的參數，或換一個工具。',
  call_too_many_checks: '同時檢查的輸入太多。請稍後再試，並減少輸入。',
  call_unapproved: '{name} 需要有人核准，而這裡沒有人可以詢問。[{advice}]',
  call_unapproved_address:
    '{name} 要存取的位址既不是使用者寫的，也沒有在結果中出現過，需要有人核准，而這裡沒有人可以詢問。請寫出這個位址。[{advice}]',
  call_denied_by_policy: '{name} 已被禁止。',
  call_denied_for_all: '{name} 已對所有人禁止。請管理員允許它。',
  call_denied_by_you: '你禁止了 {name}。要手動呼叫，請把它設為「每次詢問我」。',
  call_denied_by_owner: '這把金鑰的主人禁止了 {name}，只有他可以允許。',
  call_off_for_all: '{name} 已對所有人關閉。請管理員開啟它。',
  call_off: '{name} 已關閉。要呼叫它，請在你的工具中開啟。',
  call_off_by_server: '{name} 已關閉，因為它的伺服器不建議使用。要呼叫它，請在你的工具中開啟。',
  call_idle_timeout: '{name} 在 {seconds} 秒內沒有回應，已停止。',
  call_total_timeout: '{name} 過了 {seconds} 秒還沒有完成，已停止。',
  call_crashed: '{name} 處理這個輸入時當機了。請換別的參數，或換一個工具。',
  call_output_over_quota: '工具已執行，但它的 {bytes} 位元組的輸出無法儲存。{why}',
  call_output_not_kept:
    '工具已執行，但它的 {bytes} 位元組的輸出太長，無法顯示，也沒能儲存。請減少內容。',
  call_allow_by_key:
    "請建立允許它的金鑰（權限範圍中的 `{allow}`，或 `tenon user key … --allow '{id}'`），或把 `{id}` 設為「允許」。",
  call_allow_in_shell: '用 `--allow {id}` 或 `--yes` 可以允許它。',
  call_allow_by_policy: '請把 `{id}` 設為「允許」。',
  input_missing: '缺少 {field}',
  input_unknown: '{fields} 不是已知的欄位',
  input_not_a_choice: '`{field}` 應是 {choices} 之一，而不是 {value}',
  input_wrong: '[`{field}`：]{said}',
  input_more_problems: '等等',
  input_unexplained: '找出錯誤需要太長時間，請用更小的輸入',
  input_not_valid: '它無效',

  // 伺服器上的呼叫
  call_server_failed:
    '{server} 現在無法使用：{why}它的記錄和「{remedy}」按鈕在「設定 → 工具伺服器」中。',
  call_login_required: '{server} 要求登入。請在「設定 → 工具伺服器」中登入。',
  call_server_off: '{server} 已關閉或刪除。',
  call_server_starting: '{waiting}，而這次呼叫的時間已到。什麼都沒有執行，請過一分鐘再試。',
  call_not_sent: '無法連線 {server}，所以沒有呼叫 `{tool}`，什麼都沒有執行。{why}請稍後再試。',
  call_connection_lost:
    '{server} 在執行 `{tool}` 時停止了，不知道是否已經生效。{why}重複之前請先確認。',
  call_no_server_address:
    '無法呼叫 {server}：它的文件沒有說明伺服器在哪裡。可以在「設定 → 工具伺服器」中填寫位址。',
  call_tool_gone: '{server} 已沒有這個工具。',
  call_local_tool_gone: '伺服器已沒有這個工具。',
  call_refused_by_server: '伺服器拒絕了這次呼叫：{said}',
  call_unsure: '{why}不知道呼叫是否已經生效：重複之前請先確認。',
  call_answer_unreadable: '回應無法讀取。',
  call_answer_no_result: '伺服器的回應不是工具的結果。',
  call_answer_no_status: '回應沒有狀態碼。',
  call_answer_incomplete: '回應沒有完整傳來。',
  call_failed_silently: '工具失敗了，沒有說明原因。',
  call_remote_away:
    '{name} 在這個 Tenon 的另一台伺服器上執行，暫時無法聯絡。什麼都沒有做。請過幾秒再試。',
  call_remote_lost:
    '執行 {name} 的那台 Tenon 伺服器在給出結果之前失去了聯絡。不知道呼叫是否生效：重複之前請先檢查。',
  call_no_page:
    '這個工具在使用者自己的電腦上執行，要透過 {device} 中的 Tenon 頁面，而現在沒有開啟這樣的頁面。什麼都沒有執行。請在那裡開啟 Tenon。',
  call_page_lost:
    '{device} 中執行這次呼叫的頁面在回應之前關閉或斷開了。不知道呼叫是否已經生效：重複之前請先確認。',
  call_nothing_there:
    '這個工具在使用者自己的電腦上執行，而那裡的 {address} 現在沒有可用的服務。請去查看。',
  call_refused_by_page: '{said} 什麼都沒有執行。解決辦法見「工具」。',
  call_unreachable_from_page: '{said} 很可能什麼都沒有執行。解決辦法見「工具」。',
  call_key_unsendable: '為這個伺服器儲存的金鑰無法傳送：它應是一行，不含控制字元。',
  call_no_client: '這個安全方案沒有已知的用戶端。',
  call_token_host_untrusted:
    '無法為 `{scheme}` 取得權杖：文件說由 {host} 發放，而它不應看到為 {origins} 儲存的內容。如果應該，請在這個伺服器的設定中填寫發放權杖的位址。',
  call_token_address: '無法為 `{scheme}` 取得權杖：發放權杖的位址無效。',
  call_token_address_insecure: '無法為 `{scheme}` 取得權杖：文件用 https，而發放權杖的位址不是。',
  call_token_address_scheme: '無法為 `{scheme}` 取得權杖：發放權杖的位址既不是 http 也不是 https。',
  call_no_token: '沒有呼叫伺服器，因為無法從 {host} 為 `{scheme}` 取得權杖：{why}。',
  call_token_unfetched: '沒能取得權杖。',
  token_host_silent: '那裡沒有回應',
  token_secret_too_long: '它的密碼太長',
  token_answer_too_long: '回應太長',
  token_rejected: '它的答覆：{said}',
  token_status: '它傳回 {status}',
  token_missing: '它的回應中沒有權杖',
  token_type: '它發放的權杖 Tenon 無法使用',
  token_invalid: '它的權杖無效',
  wait_starting: '{server} 還在啟動',
  wait_queued: '{server} 在等其他伺服器啟動',
  wait_installing: '{server} 過了 {seconds} 秒還在安裝',
  wait_starting_since: '{server} 過了 {seconds} 秒還在啟動',
  remedy_restart: '重新啟動',
  remedy_refresh: '重新讀取',

  // 輸入變成請求
  request_not_an_object: '這個工具的輸入應是一個物件，每個參數一個欄位。',
  request_field_missing: '輸入不符合這個工具的格式定義：缺少 `{field}`。',
  request_url_too_long: '輸入太長：得到的位址超過 {max} 位元組。',
  request_cookies_too_long: 'Cookie 太長。',
  request_not_a_form: '`{field}` 是表單：應是一個物件，每個欄位一個值。',
  request_not_a_file:
    '`{field}` 是檔案：請把它的內容寫成 base64 文字，或 `data:image/png;base64,…`。',
  request_header_value: '`{field}` 會放進標頭：它應是一行，不含控制字元，最多 {max} 位元組。',
  request_dot_segment: '無法得到路徑 {path}：其中一段會是 `.` 或 `..`。請換一個值。',
  request_path_empty: '`{field}` 是位址的一部分，不能為空。請給出一個值。',
  request_header_name: '無法用標頭 `{name}` 呼叫這個工具：這不是標頭的名稱。',
  request_header_hop_by_hop: '無法用標頭 `{name}` 呼叫這個工具：它屬於連線本身。',
  request_server_variable: '無法呼叫這個工具：它的說明說它位於 `{server}`，其中有一部分沒有說明。',
  request_server_invalid: '無法呼叫這個工具：它的說明說它位於 `{server}`，而這不是位址：{why}。',
  request_server_scheme:
    '無法呼叫這個工具：它的說明說它位於 `{server}`，而這既不是 http 也不是 https。',
  request_path_undeclared: '無法呼叫這個工具：它的說明沒有說 {path} 中的 {parameter} 是什麼。',
  request_not_repeatable: '這個請求不能傳送兩次。',
  answer_too_large: '回應超過 {mb} MB，超出了讀取的上限。',
  answer_late: '{host} 在 {seconds} 秒內沒有回應。',
  redirect_elsewhere:
    '{from} 重新導向到另一個網站 {to}，不會跟隨。如果那才是伺服器，請改填它的位址。',
} satisfies Partial<Record<ErrorCode, string>>;
