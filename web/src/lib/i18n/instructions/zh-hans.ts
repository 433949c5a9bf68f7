import type { InstructionsMessages } from './en';

export const instructionsZhHans: InstructionsMessages = {
  ownTitle: '所有对话的指示',
  ownHelp:
    '每个模型都应了解的关于你的信息，以及回答的方式，对你的所有对话有效。模型在每条消息时都会收到。',
  own: '你的指示',
  ownHint: '例如：“我在上海做护士。请用简体中文简短回答。”',
  saved: '已保存。',
  left: (count) => `还可输入 ${count} 个字符`,
  tooLong: (max) => `最多 ${max} 个字符，请缩短。`,

  chatTitle: '对话设置',
  chat: '本对话的指示',
  chatHint: '本对话的每条消息，模型都会收到。',
  parameters: '参数',
  parametersOf: (model) => `留空的项沿用专家或 ${model} 的设置。`,
  noParameters: '内置助手没有参数。',
  temperature: '温度',
  temperatureHint: '0 到 2：低则精确，高则多样。',
  topP: 'Top P',
  topPHint: '0 到 1：用词可以多不常见。与温度只改其一。',
  maxTokens: '回答的 token 上限',
  maxTokensHint: '到此为止，无论是否答完。',
  effort: '思考力度',
  effortHint: '会思考的模型可以思考多久。',
  efforts: { '': '由模型决定', low: '低', medium: '中', high: '高' },
  wrongNumber: {
    temperature: '请填 0 到 2 的数字，或留空。',
    topP: '请填 0 到 1 的数字，或留空。',
    maxTokens: '请填大于 0 的整数，或留空。',
  },
  inherited: (value) => `${value}（来自专家）`,

  order: '模型依次收到的指示',
  orderHelp: '有冲突时，以后面的为准。',
  fromExpert: (title) => `专家 ${title}`,
  fromYou: '你',
  fromFolder: (name) => `文件夹 ${name}`,
  fromChat: '本对话',
  nothing: '无',
  change: '更改',
  changeOf: (what) => `更改：${what}`,
};
