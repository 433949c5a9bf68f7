import type { LocalMessages } from './en';

export const localZhHans: LocalMessages = {
  diagnoses: {
    blockedPort: ({ host }) => ({
      text: `任何浏览器都不会连接 ${host}：这个端口属于浏览器禁用的端口。`,
      help: '请让服务器改用其他端口，并在这里修改地址。',
    }),
    mixedContent: ({ url }) => ({
      text: `这个页面是通过 https 打开的，浏览器不允许它访问 ${url}。`,
      help: '请把服务器运行在这台电脑上并使用它的 localhost 地址，或者给它配上 https。',
    }),
    policy: ({ url }) => ({
      text: `这个页面不能访问 ${url}：Tenon 只允许它访问 localhost 和 127.0.0.1。`,
      help: '如果服务器在别处，请把它添加为工具服务器，由 Tenon 自己去调用。',
    }),
    permissionAsk: () => ({
      text: '要在你的电脑上查找，浏览器需要先得到你的允许。',
      help: '浏览器会询问是否允许访问“此设备上的其他应用和服务”，请选择“允许”。以后随时可以点地址栏左侧的图标撤回。',
    }),
    permissionUnanswered: () => ({
      text: '浏览器可能还在等你授权（左上角），也可能是服务器响应太慢。',
      help: '请在那里选择“允许”。如果没有看到询问，请重新查找。',
    }),
    permissionDismissed: () => ({
      text: '浏览器的授权询问被关掉了，没有得到回答。',
      help: '请重新查找并选择“允许”。关掉三次后，浏览器会直接屏蔽这个网站。',
    }),
    permissionDenied: () => ({
      text: '这个网站被禁止访问此设备上的应用：可能是你、浏览器的管理员，或 Tenon 自身的设置禁止的。',
      help: '点地址栏左侧的图标，打开网站设置，允许访问此设备上的应用（或本地网络），然后刷新页面。',
    }),
    permissionNeedsHttps: ({ origin }) => ({
      text: `浏览器只允许 https 页面访问这台电脑，而当前页面的地址是 ${origin}。`,
      help: '请用 https 打开 Tenon。如果 Tenon 就运行在这台电脑上，也可以用它的 localhost 地址打开。',
    }),
    notRunning: ({ host }) => ({
      text: `${host} 上没有程序在运行。`,
      help: '请启动服务器，或改正端口。例如：',
    }),
    notRunningOrNotHttp: ({ host }) => ({
      text: `${host} 没有可用的响应。服务器启动了吗？端口对吗？`,
      help: '它可能没有运行，可能断开了连接，也可能说的不是 HTTP。启动的方法，例如：',
    }),
    notHttp: ({ host }) => ({
      text: `${host} 上有程序在监听，但网页用不了：它断开了连接、说的不是 HTTP，或者不允许其他网站使用（Cross-Origin-Resource-Policy）。`,
      help: '请检查端口。要在那里启动一个工具服务器，例如：',
    }),
    useHttp: ({ host }) => ({
      text: `${host} 上的服务器用的是 http，不是 https。`,
      help: '在自己的电脑上，http 同样安全。',
    }),
    useHttps: ({ host }) => ({
      text: `${host} 上的服务器用的是 https，不是 http。`,
      help: '请把地址改成 https。',
    }),
    tlsNotTrusted: ({ host }) => ({
      text: `浏览器不信任 ${host} 的证书。`,
      help: '可以改用 http（在自己的电脑上同样安全），或者用一张这台电脑信任的证书：',
    }),
    tlsOrNotRunning: ({ url }) => ({
      text: `请在新标签页打开 ${url}：出现警告说明证书不受信任，“拒绝连接”说明它没有运行。`,
      help: '网页无法区分这两种情况。在自己的电脑上用 http 同样安全；受信任的证书可以这样生成：',
    }),
    cors: ({ host, origin }) => ({
      text: `${host} 上有服务器响应，但它不允许本站读取（CORS）。`,
      help: `请让它允许来源 ${origin}。如果已经允许，它可能需要密钥（例如用 --strict-auth 启动的 mcpo），也可能出错了：出错的响应往往不带 CORS 标头，请看它的日志。`,
    }),
    preflightHeader: ({ diagnosis, host }) => ({
      text: `${host} 上的服务器允许本站读取，但不接受标头“${diagnosis.header}”。`,
      help: '请让它允许所有被请求的标头：',
    }),
    preflightRefused: ({ host }) => ({
      text: `${host} 上的服务器拒绝了浏览器的预检请求（OPTIONS）。`,
      help: '请让 CORS 先于其他一切处理，包括密钥检查：',
    }),
    preflightMethod: ({ diagnosis, host }) => ({
      text: `${host} 上的服务器允许本站读取，但不允许向它发送请求（${diagnosis.method}）。`,
      help: '请让它允许所有方法：',
    }),
    hiddenHeader: ({ diagnosis, host }) => ({
      text: `${host} 上的服务器返回了标头“${diagnosis.header}”，但没有向本站公开它。`,
      help: '请让它公开这个标头：',
    }),
    tooSlow: ({ host }) => ({
      text: `${host} 接受了连接，却迟迟没有响应。`,
      help: '它可能还在启动，也可能卡住了。请看它的日志，或重新启动它。',
    }),
    cut: ({ host }) => ({
      text: `${host} 的响应中途断了。`,
      help: '它可能崩溃了。请看它的日志，或重新启动它。',
    }),
    needsKey: ({ diagnosis, host }) => ({
      text: diagnosis.given
        ? `${host} 不接受给它的密钥（${diagnosis.status}）。`
        : `${host} 需要密钥（${diagnosis.status}）。`,
      help: '密钥只保存在这个浏览器里，不会发给 Tenon。',
    }),
    wrongPath: ({ diagnosis, host }) => ({
      text: `${host} 有响应，但这个路径下什么都没有（${diagnosis.status}）。`,
      help: '通常的地址是：',
    }),
    notToolServer: ({ host }) => ({
      text: `${host} 有响应，但不是工具服务器：既没有 OpenAPI 文档，也没有 MCP 端点。`,
      help: '通常的地址是：',
    }),
    badSpec: ({ diagnosis, host }) => ({
      text: `${host} 给出的工具描述无法使用：${diagnosis.where}`,
      help: '这需要由编写该服务器的人来修正。',
    }),
    badHandshake: ({ diagnosis, host }) => ({
      text: `${host} 有响应，但不像 MCP 服务器${diagnosis.why ? `：${diagnosis.why}` : '。'}`,
      help: '它的日志里可能有更多信息。如果它不是 MCP 服务器，请换一种类型。通常的地址是：',
    }),
    hub: ({ diagnosis }) => ({
      text: `服务器找到了，但没能告诉 Tenon：${diagnosis.why}`,
      help: '下次查找时会再试。',
    }),
  },
  short: {
    blockedPort: '禁用的端口',
    mixedContent: 'https 页面不能访问',
    policy: '本页面不能访问',
    permissionAsk: '尚未查找',
    permissionUnanswered: '等待浏览器授权',
    permissionDismissed: '尚未查找',
    permissionDenied: '被浏览器禁止',
    permissionNeedsHttps: '需要 https',
    notRunning: '没有运行',
    notRunningOrNotHttp: '没有响应',
    notHttp: '无法使用',
    useHttp: '用的是 http',
    useHttps: '用的是 https',
    tlsNotTrusted: '证书不受信任',
    tlsOrNotRunning: '证书问题或没有运行',
    cors: 'CORS',
    preflightHeader: 'CORS：标头',
    preflightRefused: 'CORS：OPTIONS',
    preflightMethod: 'CORS：方法',
    hiddenHeader: 'CORS：未公开的标头',
    tooSlow: '响应太慢',
    cut: '中途断开',
    needsKey: '需要密钥',
    wrongPath: '路径下没有内容',
    notToolServer: '不是工具服务器',
    badSpec: '描述无法使用',
    badHandshake: '不是 MCP 响应',
    hub: '没有登记',
  },

  here: '这台电脑上',
  hereHelp: '运行在你自己电脑上的工具服务器。由这个浏览器调用，Tenon 的服务器不会碰到它们。',
  noneYet: '这台电脑上还没有工具服务器',
  problemCount: (count) => `${count} 个问题`,
  howToStart: '怎样启动一个',
  startOne: '这样启动，之后会自动找到它：',
  howToFix: '怎样解决',
  lookAgain: '重新查找',
  looking: '查找中…',
  retry: '重试',
  useInstead: (url) => `改用 ${url}`,
  enterKey: '输入密钥',
  openThere: (url) => `打开 ${url}`,
  askTitle: '使用这台电脑上的工具',
  look: '在这台电脑上查找',
  waiting: '浏览器可能正在请求授权（左上角），请选择“允许”。',
  waitingShort: '等待浏览器授权',

  makers: { mcpo: 'mcpo', fastmcp: 'FastMCP', express: 'Express', other: '其他' },
  maker: '服务器是用什么写的',
  captions: {
    start: {
      mcpo: '在终端里运行：',
      fastmcp: '保存为 server.py，用“uv run --with fastmcp server.py”运行：',
      express: '先“npm install express cors”，保存为 server.mjs，用“node server.mjs”运行：',
      other: '',
    },
    cors: {
      mcpo: '在启动命令里加上这个选项：',
      fastmcp: '这样运行：',
      express: '先“npm install cors”，再加在所有路由之前：',
      other: '每个响应（包括对 OPTIONS 的响应）都带上这些标头：',
    },
    tls: {
      mcpo: '在终端里用 mkcert 生成证书，再加上这两个选项：',
      fastmcp: '在终端里用 mkcert 生成证书，然后：',
      express: '在终端里用 mkcert 生成证书，然后：',
      other: '',
    },
    where: {
      mcpo: 'mcpo，包括它代理的所有服务器：',
      fastmcp: 'FastMCP 和大多数 MCP 服务器：',
      express: '带 OpenAPI 文档的网络服务：',
      other: '',
    },
    key: { mcpo: 'mcpo 的密钥就是启动时这个选项后面的值：', fastmcp: '', express: '', other: '' },
  },

  add: '添加地址',
  edit: (name) => `修改“${name}”`,
  menuOf: (name) => `${name} 的选项`,
  use: (name) => `使用 ${name}`,
  remove: '移除',
  removeAsk: (name) => `移除“${name}”？它的工具会从你的对话中消失，它的密钥也会被忘掉。`,
  off: '已关闭',
  via: { mcpo: 'mcpo', openapi: 'OpenAPI', mcp: 'MCP' },
  serverCount: (count) => `${count} 个服务器`,
  withKey: '带密钥',
  notesOf: (count) => `${count} 条说明`,

  address: '地址或端口',
  addressHint: '例如 8000 或 http://localhost:8000/mcp。',
  kind: '类型',
  kinds: { auto: '自动判断', openapi: 'OpenAPI 或 mcpo', mcp: 'MCP' },
  name: '名称',
  nameHint: '你怎么称呼它。可以留空。',
  key: '密钥',
  keyHint: '需要时填写。只保存在这个浏览器里，不会发给 Tenon。',
  keyKept: '留空则沿用之前输入的密钥。',
  keyGone: '之前输入的密钥属于另一个地址。如果这里也需要，请重新输入。',
  header: '密钥的标头',
  headerHint: '在 Authorization 中，单独的密钥会以“Bearer 密钥”的形式发送。',
  showKey: '显示密钥',
  hideKey: '隐藏密钥',
  removeKey: '忘掉密钥',
  submitAdd: '添加',
  problems: {
    missing: '请填写。',
    notAddress: '这既不是端口，也不是以 http:// 或 https:// 开头的地址。',
    twice: '这个地址已经在列表里了。',
    notHeader: '这不能作为标头的名称。',
  },

  scan: '查找更多端口',
  ports: '这台电脑的端口',
  portsHint: '例如 8000, 3000-3005。在那里找到的工具服务器会被添加。',
  noPorts: '这里面没有端口。',
  scanNow: '开始查找',
  scanning: (count) => `正在查找 ${count} 个端口…`,
  scanned: (listening) => (listening === 0 ? '这些端口上没有响应。' : `${listening} 个有响应：`),
  scannedAdded: '已添加',
  scannedKnown: '已在列表里',
  found: '在这台电脑上找到的',

  sync: '把这些地址保存到我的账号（绝不包括密钥）',
  syncHelp: '这样你的其他浏览器也会查找它们。',

  offline: (device) => `离线 · ${device}`,
  offlineHere: (device) => `离线 · ${device}（当前电脑）`,
  forget: '忘掉这台电脑的工具',
  forgetAsk: (device) => `忘掉“${device}”的所有工具？在那里再次打开 Tenon 时，它们会回来。`,
  forgetLabel: '忘掉',

  where: '位置',
  ranThere: (device, url) =>
    `在你自己的电脑上：由 ${device} 调用 ${url}，没有经过 Tenon 的服务器。`,
  ranHere: '在你自己的电脑上，由你的浏览器调用，没有经过 Tenon 的服务器。',
  ranElsewhere: '在提问者的电脑上，由其浏览器调用。',
};
