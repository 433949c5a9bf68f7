import type { ServerMessages } from './en';

const beginnings: Record<string, string> = {
  bad_request: '內容不符合要求',
  sealed: '無法讀取已儲存的金鑰',
  too_late: '已經太晚',
  unreachable: '對方沒有正常回應',
  unread: '讀取不到它的說明文件',
  wants_key: '對方要求金鑰',
};

export const serverZhHant: ServerMessages = {
  serverSays: {
    not_found: '找不到，可能已被刪除。',
    busy: '這個對話還在回答，請等它結束或先停止。',
    crowded: '此刻登入的人太多，請過幾秒再試。',
    not_waiting: '這次呼叫已不再等待答覆。',
    closing: 'Tenon 正在關閉，不再接收新訊息。',
    too_long: '內容太長。請改成檔案，或分成幾次。',
    too_many: '嘗試次數過多，請稍後再試。',
    disk_full: '伺服器磁碟已滿，無法儲存。請在伺服器上騰出空間；已儲存的內容仍可閱讀。',
    disk_low: '伺服器磁碟即將用完，暫時無法開始新的內容。請騰出空間，或請管理員處理。',
    too_slow: '內容沒有及時傳完，請換個更好的網路再試。',
    too_many_values: '內容裡的資料項太多。請減少，或改用文件的網址。',
    too_many_sockets: '開啟的頁面太多，請關掉一些。',
    too_much_at_once: '你同時傳送的內容太多，請過幾秒再試。',
    overloaded: 'Tenon 此刻要接收的內容太多，請過幾秒再試。',
    storage: 'Tenon 無法讀寫資料，原因見它的記錄。',
    forbidden: '沒有權限這樣做。',
    not_logged_in: '尚未登入，請先登入。',
    no_account: '這需要帳號，而這裡還沒有。請先建立：tenon user add。',
    set_up: '管理員帳號已存在，請重新載入頁面並登入。',
    set_up_first: '還沒有任何帳號。請重新載入頁面，建立第一個帳號。',
    wrong_host: '不能用這個位址開啟 Tenon。',
    wrong_origin: '請求來自另一個網站，已被拒絕。',
    unwell: 'Tenon 目前無法運作，原因見它的記錄。',
  },
  serverSentences: {
    'Tenon was restarted during this answer.': '回答過程中 Tenon 重新啟動了。',
    'Tenon was restarted and could not go on with this answer.':
      'Tenon 重新啟動後無法接著完成這個回答。',
    'The answer took too long and was cut off.': '回答時間過長，已中斷。',
    'The answer grew too long and was cut off.': '回答過長，已中斷。',
    'The answer broke off.': '回答中斷了。',
    'The model could not be used.': '無法使用這個模型。',
    "The model's answer broke off.": '模型的回答中斷了。',
    "The model's provider withheld the rest of this answer.": '模型供應方扣留了其餘的回答。',
    "The server's disk is full, so this answer could not be stored. Free some space on it and ask again.":
      '伺服器磁碟已滿，無法儲存這個回答。請騰出空間後再問一次。',
    'Tenon could not store this answer. Its log says why.':
      'Tenon 無法儲存這個回答，原因見它的記錄。',
    'Tenon made a mistake in this answer. Its log says which.':
      'Tenon 在這個回答中出錯了，詳情見它的記錄。',
    'There is nothing to share yet. Say something in this chat first.':
      '還沒有可分享的內容，請先在對話中說點什麼。',
    'The message is empty; write something first.': '訊息是空的，請先寫點什麼。',
  },
  serverDetail: (code, sentence) => `${beginnings[code] ?? '伺服器說明'}：${sentence}`,
  storage: {
    low: '伺服器磁碟即將用完：在騰出空間之前，無法開始新的內容。',
    full: '伺服器磁碟已滿：在騰出空間之前，什麼都無法儲存。已儲存的內容仍可閱讀。',
    failing: '伺服器目前無法儲存任何內容，原因見它的記錄。',
  },
  notImportable: (detail) => `這個檔案無法匯入。${detail}`,
  silentTryAgain: 'Tenon 沒有回應。請確認它正在執行，然後重試。',
};
