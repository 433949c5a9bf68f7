import type { SpeechMessages } from './en';

export const speechZhHant: SpeechMessages = {
  readAloud: '朗讀',
  stopReading: '停止朗讀',
  dictate: '語音輸入',
  stopDictating: '停止語音輸入',
  listening: '正在聆聽…有些瀏覽器會把聲音傳給它的廠商來辨識。',
  denied: '瀏覽器不允許 Tenon 使用麥克風。請在瀏覽器的網站設定裡允許。',
  noMicrophone: '沒有找到麥克風。',
  failed: '瀏覽器沒能辨識語音。請再試一次。',
};
