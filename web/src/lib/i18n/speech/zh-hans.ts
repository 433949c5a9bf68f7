import type { SpeechMessages } from './en';

export const speechZhHans: SpeechMessages = {
  readAloud: '朗读',
  stopReading: '停止朗读',
  dictate: '语音输入',
  stopDictating: '停止语音输入',
  listening: '正在听…有些浏览器会把声音发给它的厂商来识别。',
  denied: '浏览器不允许 Tenon 使用麦克风。请在浏览器的网站设置里允许。',
  noMicrophone: '没有找到麦克风。',
  failed: '浏览器没能识别语音。请再试一次。',
};
