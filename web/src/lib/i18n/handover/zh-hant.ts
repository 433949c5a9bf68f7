import type { HandoverMessages } from './en';

export const handoverZhHant: HandoverMessages = {
  title: '這個帳號在你之前有人用過',
  why: '它用的是你的電子郵件，但當時沒有人核實過。現在帳號歸你所有，凡是能替之前的人做事或透露資訊的，都已關閉：',
  waysIn: '原來的密碼、所有登入和所有 API 金鑰都已失效。',
  servers: (number) => `${number} 個工具伺服器已關閉：`,
  serverLogIns: (number) => `在工具伺服器上的 ${number} 個登入已結束。要使用它們，請自己重新登入。`,
  secrets: (number) => `給工具伺服器用的 ${number} 個機密已刪除。`,
  localServers: (number) => `其他電腦上的 ${number} 個伺服器已不再列出。`,
  shares: (number) => `${number} 個對話連結已失效。`,
  allowedTools: (number) => `${number} 個工具在使用前會重新詢問。`,
  chats: '對話都還在。請只開啟你認識的伺服器：設定 → 工具伺服器。',
  understood: '知道了',
  toServers: '開啟工具伺服器',
  comma: '、',
};
