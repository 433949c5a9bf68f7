import type { ServerMessages } from './en';

export const serverZhHant: ServerMessages = {
  serverDetail: (sentence) => `伺服器說明：${sentence}`,
  storage: {
    low: '伺服器磁碟即將用完：在騰出空間之前，無法開始新的內容。',
    full: '伺服器磁碟已滿：在騰出空間之前，什麼都無法儲存。已儲存的內容仍可閱讀。',
    failing: '伺服器目前無法儲存任何內容，原因見它的記錄。',
  },
  silentTryAgain: 'Tenon 沒有回應。請確認它正在執行，然後重試。',
};
