import type { ServerMessages } from './en';

export const serverZhHant: ServerMessages = {
  serverDetail: (sentence) => `伺服器說明：${sentence}`,
  storage: {
    low: '伺服器磁碟即將用完：在騰出空間之前，無法開始新的內容。',
    full: '伺服器磁碟已滿：在騰出空間之前，什麼都無法儲存。已儲存的內容仍可閱讀。',
    failing: '伺服器目前無法儲存任何內容，原因見它的記錄。',
  },
  cluster: {
    delayed: '即時顯示有延遲：其他伺服器給出的回答會在每一步儲存後顯示。',
    noBus:
      '多台伺服器使用同一資料庫，但沒有設定匯流排：即時回答、表單和個人電腦上的工具只在最初的伺服器上可用。請在每台伺服器上設定 `bus`。',
  },
  silentTryAgain: 'Tenon 沒有回應。請確認它正在執行，然後重試。',
};
