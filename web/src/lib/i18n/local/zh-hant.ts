import type { LocalMessages } from './en';

export const localZhHant: LocalMessages = {
  diagnoses: {
    blockedPort: ({ host }) => ({
      text: `任何瀏覽器都不會連線到 ${host}：這個連接埠屬於瀏覽器停用的連接埠。`,
      help: '請讓伺服器改用其他連接埠，並在這裡修改位址。',
    }),
    mixedContent: ({ url }) => ({
      text: `這個頁面是透過 https 開啟的，瀏覽器不允許它存取 ${url}。`,
      help: '請把伺服器執行在這台電腦上並使用它的 localhost 位址，或者讓它支援 https。',
    }),
    policy: ({ url }) => ({
      text: `這個頁面不能存取 ${url}：Tenon 只允許它存取 localhost 和 127.0.0.1。`,
      help: '如果伺服器在別處，請把它新增為工具伺服器，由 Tenon 自己去呼叫。',
    }),
    permissionAsk: () => ({
      text: '要在你的電腦上尋找，瀏覽器需要先得到你的允許。',
      help: '瀏覽器會詢問是否允許存取「這部裝置上的其他應用程式和服務」，請選擇「允許」。之後隨時可以按網址列左側的圖示收回。',
    }),
    permissionUnanswered: () => ({
      text: '瀏覽器可能還在等你授權（左上角），也可能是伺服器回應太慢。',
      help: '請在那裡選擇「允許」。如果沒有看到詢問，請重新尋找。',
    }),
    permissionDismissed: () => ({
      text: '瀏覽器的授權詢問被關掉了，沒有得到回答。',
      help: '請重新尋找並選擇「允許」。關掉三次後，瀏覽器會直接封鎖這個網站。',
    }),
    permissionDenied: () => ({
      text: '這個網站被禁止存取這部裝置上的應用程式：可能是你、瀏覽器的管理員，或 Tenon 本身的設定禁止的。',
      help: '按網址列左側的圖示，開啟網站設定，允許存取這部裝置上的應用程式（或區域網路），然後重新載入頁面。',
    }),
    permissionNeedsHttps: ({ origin }) => ({
      text: `瀏覽器只允許 https 頁面存取這台電腦，而目前頁面的位址是 ${origin}。`,
      help: '請用 https 開啟 Tenon。如果 Tenon 就執行在這台電腦上，也可以用它的 localhost 位址開啟。',
    }),
    notRunning: ({ host }) => ({
      text: `${host} 上沒有程式在執行。`,
      help: '請啟動伺服器，或改正連接埠。例如：',
    }),
    notRunningOrNotHttp: ({ host }) => ({
      text: `${host} 沒有可用的回應。伺服器啟動了嗎？連接埠對嗎？`,
      help: '它可能沒有執行，可能中斷了連線，也可能說的不是 HTTP。啟動的方法，例如：',
    }),
    notHttp: ({ host }) => ({
      text: `${host} 上有程式在監聽，但網頁用不了：它中斷了連線、說的不是 HTTP，或者不允許其他網站使用（Cross-Origin-Resource-Policy）。`,
      help: '請檢查連接埠。要在那裡啟動一個工具伺服器，例如：',
    }),
    useHttp: ({ host }) => ({
      text: `${host} 上的伺服器用的是 http，不是 https。`,
      help: '在自己的電腦上，http 同樣安全。',
    }),
    useHttps: ({ host }) => ({
      text: `${host} 上的伺服器用的是 https，不是 http。`,
      help: '請把位址改成 https。',
    }),
    tlsNotTrusted: ({ host }) => ({
      text: `瀏覽器不信任 ${host} 的憑證。`,
      help: '可以改用 http（在自己的電腦上同樣安全），或者用一張這台電腦信任的憑證：',
    }),
    tlsOrNotRunning: ({ url }) => ({
      text: `請在新分頁開啟 ${url}：出現警告表示憑證不受信任，「拒絕連線」表示它沒有執行。`,
      help: '網頁無法分辨這兩種情況。在自己的電腦上用 http 同樣安全；受信任的憑證可以這樣產生：',
    }),
    cors: ({ host, origin }) => ({
      text: `${host} 上有伺服器回應，但它不允許本站讀取（CORS）。`,
      help: `請讓它允許來源 ${origin}。如果已經允許，它可能需要金鑰（例如用 --strict-auth 啟動的 mcpo），也可能出錯了：出錯的回應往往不帶 CORS 標頭，請看它的記錄檔。`,
    }),
    preflightHeader: ({ diagnosis, host }) => ({
      text: `${host} 上的伺服器允許本站讀取，但不接受標頭「${diagnosis.header}」。`,
      help: '請讓它允許所有被要求的標頭：',
    }),
    preflightRefused: ({ host }) => ({
      text: `${host} 上的伺服器拒絕了瀏覽器的預檢請求（OPTIONS）。`,
      help: '請讓 CORS 先於其他一切處理，包括金鑰檢查：',
    }),
    preflightMethod: ({ diagnosis, host }) => ({
      text: `${host} 上的伺服器允許本站讀取，但不允許向它傳送請求（${diagnosis.method}）。`,
      help: '請讓它允許所有方法：',
    }),
    hiddenHeader: ({ diagnosis, host }) => ({
      text: `${host} 上的伺服器傳回了標頭「${diagnosis.header}」，但沒有向本站公開它。`,
      help: '請讓它公開這個標頭：',
    }),
    tooSlow: ({ host }) => ({
      text: `${host} 接受了連線，卻遲遲沒有回應。`,
      help: '它可能還在啟動，也可能卡住了。請看它的記錄檔，或重新啟動它。',
    }),
    cut: ({ host }) => ({
      text: `${host} 的回應中途斷了。`,
      help: '它可能當掉了。請看它的記錄檔，或重新啟動它。',
    }),
    needsKey: ({ diagnosis, host }) => ({
      text: diagnosis.given
        ? `${host} 不接受給它的金鑰（${diagnosis.status}）。`
        : `${host} 需要金鑰（${diagnosis.status}）。`,
      help: '金鑰只保存在這個瀏覽器裡，不會傳給 Tenon。',
    }),
    wrongPath: ({ diagnosis, host }) => ({
      text: `${host} 有回應，但這個路徑下什麼都沒有（${diagnosis.status}）。`,
      help: '通常的位址是：',
    }),
    notToolServer: ({ host }) => ({
      text: `${host} 有回應，但不是工具伺服器：既沒有 OpenAPI 文件，也沒有 MCP 端點。`,
      help: '通常的位址是：',
    }),
    badSpec: ({ diagnosis, host }) => ({
      text: `${host} 給出的工具描述無法使用：${diagnosis.where}`,
      help: '這需要由撰寫該伺服器的人來修正。',
    }),
    badHandshake: ({ diagnosis, host }) => ({
      text: `${host} 有回應，但不像 MCP 伺服器${diagnosis.why ? `：${diagnosis.why}` : '。'}`,
      help: '它的記錄檔裡可能有更多資訊。如果它不是 MCP 伺服器，請換一種類型。通常的位址是：',
    }),
    hub: ({ diagnosis }) => ({
      text: `伺服器找到了，但沒能告訴 Tenon：${diagnosis.why}`,
      help: '下次尋找時會再試。',
    }),
  },
  short: {
    blockedPort: '停用的連接埠',
    mixedContent: 'https 頁面不能存取',
    policy: '本頁面不能存取',
    permissionAsk: '尚未尋找',
    permissionUnanswered: '等待瀏覽器授權',
    permissionDismissed: '尚未尋找',
    permissionDenied: '被瀏覽器禁止',
    permissionNeedsHttps: '需要 https',
    notRunning: '沒有執行',
    notRunningOrNotHttp: '沒有回應',
    notHttp: '無法使用',
    useHttp: '用的是 http',
    useHttps: '用的是 https',
    tlsNotTrusted: '憑證不受信任',
    tlsOrNotRunning: '憑證問題或沒有執行',
    cors: 'CORS',
    preflightHeader: 'CORS：標頭',
    preflightRefused: 'CORS：OPTIONS',
    preflightMethod: 'CORS：方法',
    hiddenHeader: 'CORS：未公開的標頭',
    tooSlow: '回應太慢',
    cut: '中途斷開',
    needsKey: '需要金鑰',
    wrongPath: '路徑下沒有內容',
    notToolServer: '不是工具伺服器',
    badSpec: '描述無法使用',
    badHandshake: '不是 MCP 回應',
    hub: '沒有登記',
  },

  here: '這台電腦上',
  hereHelp: '執行在你自己電腦上的工具伺服器。由這個瀏覽器呼叫，Tenon 的伺服器不會碰到它們。',
  noneYet: '這台電腦上還沒有工具伺服器',
  problemCount: (count) => `${count} 個問題`,
  howToStart: '怎樣啟動一個',
  startOne: '這樣啟動，之後會自動找到它：',
  howToFix: '怎樣解決',
  lookAgain: '重新尋找',
  looking: '尋找中…',
  retry: '重試',
  useInstead: (url) => `改用 ${url}`,
  enterKey: '輸入金鑰',
  openThere: (url) => `開啟 ${url}`,
  askTitle: '使用這台電腦上的工具',
  look: '在這台電腦上尋找',
  waiting: '瀏覽器可能正在請求授權（左上角），請選擇「允許」。',
  waitingShort: '等待瀏覽器授權',

  makers: { mcpo: 'mcpo', fastmcp: 'FastMCP', express: 'Express', other: '其他' },
  maker: '伺服器是用什麼寫的',
  captions: {
    start: {
      mcpo: '在終端機裡執行：',
      fastmcp: '存成 server.py，用「uv run --with fastmcp server.py」執行：',
      express: '先「npm install express cors」，存成 server.mjs，用「node server.mjs」執行：',
      other: '',
    },
    cors: {
      mcpo: '在啟動命令裡加上這個選項：',
      fastmcp: '這樣執行：',
      express: '先「npm install cors」，再加在所有路由之前：',
      other: '每個回應（包括對 OPTIONS 的回應）都帶上這些標頭：',
    },
    tls: {
      mcpo: '在終端機裡用 mkcert 產生憑證，再加上這兩個選項：',
      fastmcp: '在終端機裡用 mkcert 產生憑證，然後：',
      express: '在終端機裡用 mkcert 產生憑證，然後：',
      other: '',
    },
    where: {
      mcpo: 'mcpo，包括它代理的所有伺服器：',
      fastmcp: 'FastMCP 和大多數 MCP 伺服器：',
      express: '帶 OpenAPI 文件的網路服務：',
      other: '',
    },
    key: { mcpo: 'mcpo 的金鑰就是啟動時這個選項後面的值：', fastmcp: '', express: '', other: '' },
  },

  add: '新增位址',
  edit: (name) => `修改「${name}」`,
  menuOf: (name) => `${name} 的選項`,
  use: (name) => `使用 ${name}`,
  remove: '移除',
  removeAsk: (name) => `移除「${name}」？它的工具會從你的對話中消失，它的金鑰也會被忘掉。`,
  off: '已關閉',
  via: { mcpo: 'mcpo', openapi: 'OpenAPI', mcp: 'MCP' },
  serverCount: (count) => `${count} 個伺服器`,
  withKey: '帶金鑰',
  notesOf: (count) => `${count} 則說明`,

  address: '位址或連接埠',
  addressHint: '例如 8000 或 http://localhost:8000/mcp。',
  kind: '類型',
  kinds: { auto: '自動判斷', openapi: 'OpenAPI 或 mcpo', mcp: 'MCP' },
  name: '名稱',
  nameHint: '你怎麼稱呼它。可以留空。',
  key: '金鑰',
  keyHint: '需要時填寫。只保存在這個瀏覽器裡，不會傳給 Tenon。',
  keyKept: '留空則沿用之前輸入的金鑰。',
  keyGone: '之前輸入的金鑰屬於另一個位址。如果這裡也需要，請重新輸入。',
  header: '金鑰的標頭',
  headerHint: '在 Authorization 中，單獨的金鑰會以「Bearer 金鑰」的形式傳送。',
  showKey: '顯示金鑰',
  hideKey: '隱藏金鑰',
  removeKey: '忘掉金鑰',
  submitAdd: '新增',
  problems: {
    missing: '請填寫。',
    notAddress: '這既不是連接埠，也不是以 http:// 或 https:// 開頭的位址。',
    twice: '這個位址已經在列表裡了。',
    notHeader: '這不能作為標頭的名稱。',
  },

  scan: '尋找更多連接埠',
  ports: '這台電腦的連接埠',
  portsHint: '例如 8000, 3000-3005。在那裡找到的工具伺服器會被新增。',
  noPorts: '這裡面沒有連接埠。',
  scanNow: '開始尋找',
  scanning: (count) => `正在尋找 ${count} 個連接埠…`,
  scanned: (listening) => (listening === 0 ? '這些連接埠上沒有回應。' : `${listening} 個有回應：`),
  scannedAdded: '已新增',
  scannedKnown: '已在列表裡',
  found: '在這台電腦上找到的',

  sync: '把這些位址保存到我的帳號（絕不包括金鑰）',
  syncHelp: '這樣你的其他瀏覽器也會尋找它們。',

  offline: (device) => `離線 · ${device}`,
  offlineHere: (device) => `離線 · ${device}（目前的電腦）`,
  forget: '忘掉這台電腦的工具',
  forgetAsk: (device) => `忘掉「${device}」的所有工具？在那裡再次開啟 Tenon 時，它們會回來。`,
  forgetLabel: '忘掉',

  where: '位置',
  ranThere: (device, url) =>
    `在你自己的電腦上：由 ${device} 呼叫 ${url}，沒有經過 Tenon 的伺服器。`,
  ranHere: '在你自己的電腦上，由你的瀏覽器呼叫，沒有經過 Tenon 的伺服器。',
  ranElsewhere: '在提問者的電腦上，由其瀏覽器呼叫。',
};
