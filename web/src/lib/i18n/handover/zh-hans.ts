import type { HandoverMessages } from './en';

export const handoverZhHans: HandoverMessages = {
  title: '这个账号在你之前有人用过',
  why: '它用的是你的邮箱，但当时没有人核实过。现在账号归你所有，凡是能替之前的人做事或透露信息的，都已关闭：',
  waysIn: '原来的密码、所有登录和所有 API 密钥都已失效。',
  servers: (number) => `${number} 个工具服务器已关闭：`,
  serverLogIns: (number) => `在工具服务器上的 ${number} 个登录已结束。要使用它们，请自己重新登录。`,
  secrets: (number) => `给工具服务器用的 ${number} 个机密已删除。`,
  localServers: (number) => `其他电脑上的 ${number} 个服务器已不再列出。`,
  shares: (number) => `${number} 个对话链接已失效。`,
  allowedTools: (number) => `${number} 个工具在使用前会重新询问。`,
  chats: '对话都还在。请只开启你认识的服务器：设置 → 工具服务器。',
  understood: '知道了',
  toServers: '打开工具服务器',
  comma: '、',
};
