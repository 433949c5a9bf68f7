import type { InstructionsMessages } from './en';

export const instructionsZhHant: InstructionsMessages = {
  ownTitle: '所有對話的指示',
  ownHelp:
    '每個模型都該知道的關於你的事，以及回答的方式，對你的所有對話有效。模型在每則訊息時都會收到。',
  own: '你的指示',
  ownHint: '例如：「我在台北當護理師。請用繁體中文簡短回答。」',
  saved: '已儲存。',
  left: (count) => `還可輸入 ${count} 個字元`,
  tooLong: (max) => `最多 ${max} 個字元，請縮短。`,

  chatTitle: '對話設定',
  chat: '此對話的指示',
  chatHint: '此對話的每則訊息，模型都會收到。',
  parameters: '參數',
  parametersOf: (model) => `留空的項目沿用專家或 ${model} 的設定。`,
  noParameters: '內建助理沒有參數。',
  temperature: '溫度',
  temperatureHint: '0 到 2：低則精確，高則多樣。',
  topP: 'Top P',
  topPHint: '0 到 1：用詞可以多不常見。與溫度只改其一。',
  maxTokens: '回答的 token 上限',
  maxTokensHint: '到此為止，無論是否答完。',
  effort: '思考力度',
  effortHint: '會思考的模型可以思考多久。',
  efforts: { '': '由模型決定', low: '低', medium: '中', high: '高' },
  wrongNumber: {
    temperature: '請填 0 到 2 的數字，或留空。',
    topP: '請填 0 到 1 的數字，或留空。',
    maxTokens: '請填大於 0 的整數，或留空。',
  },
  inherited: (value) => `${value}（來自專家）`,

  order: '模型依序收到的指示',
  orderHelp: '有衝突時，以後面的為準。',
  fromExpert: (title) => `專家 ${title}`,
  fromYou: '你',
  fromFolder: (name) => `資料夾 ${name}`,
  fromChat: '此對話',
  nothing: '無',
  change: '變更',
  changeOf: (what) => `變更：${what}`,
};
