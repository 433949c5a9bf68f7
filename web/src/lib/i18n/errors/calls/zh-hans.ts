// Calls of tools: why one was not made, or gave no result. Told to a person; the model reads the
// English.
import type { ErrorCode } from '../en';

export const callErrorsZhHans = {
  // 调用的结束
  call_cancelled: '调用完成之前被停止了。',
  call_refused: '这次调用被拒绝，没有执行。',
  call_lost: '调用过程中 Tenon 重新启动了。它可能已经生效，也可能没有：重复之前请先确认。',
  call_unanswered: '没有人回答是否允许这次调用，所以没有执行。',
  call_turn_ended: '这次调用没有执行：在有人允许之前，回答已经结束。',
  call_without_client_result: '应当进行此调用的客户端没有给出结果。它可能已经生效，也可能没有。',
  call_too_many: '一次最多执行 {max} 个调用，其余的没有执行。',
  quota_of_chat: '这个对话的文件会超过 {mb} MB 的上限。请删除一些，或减少内容。',
  quota_of_user:
    '这位用户所有对话的文件和输出会超过 {mb} MB 的上限。请删除不再需要的对话，或请管理员放宽。',
  quota_of_disk: '无法写入。{why}',
  call_unknown_tool: '没有工具 `{id}`。最接近的是 `{nearest}`。',
  call_no_tools: '没有工具 `{id}`，现在也没有其他可用的工具。',
  call_source_failed: '{name} 现在无法使用：{why}',
  call_source_offline: '无法连接 {name}：运行它的人不在线。',
  call_source_off: '{name} 已关闭。',
  call_input_invalid: '输入不符合这个工具的格式定义：{problems}。',
  call_arguments_not_json: '参数不是 JSON 对象：{why}。请给出一个符合格式定义的 JSON 对象。',
  call_arguments_not_object: '参数应是一个 JSON 对象，而不是 {value}。',
  call_input_too_complex: '无法在限度内检查这个输入。请用更小或更简单的输入，或换一个工具。',
  call_input_unchecked: '无法检查这个输入是否符合格式定义。请换别的参数，或换一个工具。',
  call_too_many_checks: '同时检查的输入太多。请稍后再试，并减少输入。',
  call_unapproved: '{name} 需要有人批准，而这里没有人可以询问。[{advice}]',
  call_unapproved_address:
    '{name} 要访问的地址既不是用户写的，也没有在结果中出现过，需要有人批准，而这里没有人可以询问。请写出这个地址。[{advice}]',
  call_denied_by_policy: '{name} 已被禁止。',
  call_denied_for_all: '{name} 已对所有人禁止。请管理员允许它。',
  call_denied_by_you: '你禁止了 {name}。要手动调用，请把它设为“每次询问我”。',
  call_denied_by_owner: '这把密钥的主人禁止了 {name}，只有他可以允许。',
  call_off_for_all: '{name} 已对所有人关闭。请管理员开启它。',
  call_off: '{name} 已关闭。要调用它，请在你的工具中开启。',
  call_off_by_server: '{name} 已关闭，因为它的服务器不建议使用。要调用它，请在你的工具中开启。',
  call_idle_timeout: '{name} 在 {seconds} 秒内没有响应，已停止。',
  call_total_timeout: '{name} 过了 {seconds} 秒还没有完成，已停止。',
  call_crashed: '{name} 处理这个输入时崩溃了。请换别的参数，或换一个工具。',
  call_output_over_quota: '工具已执行，但它的 {bytes} 字节的输出无法保存。{why}',
  call_output_not_kept:
    '工具已执行，但它的 {bytes} 字节的输出太长，无法显示，也没能保存。请减少内容。',
  call_allow_by_key:
    "请创建允许它的密钥（权限范围中的 `{allow}`，或 `tenon user key … --allow '{id}'`），或把 `{id}` 设为“允许”。",
  call_allow_in_shell: '用 `--allow {id}` 或 `--yes` 可以允许它。',
  call_allow_by_policy: '请把 `{id}` 设为“允许”。',
  input_missing: '缺少 {field}',
  input_unknown: '{fields} 不是已知的字段',
  input_not_a_choice: '`{field}` 应是 {choices} 之一，而不是 {value}',
  input_wrong: '[`{field}`：]{said}',
  input_more_problems: '等等',
  input_unexplained: '找出错误需要太长时间，请用更小的输入',
  input_not_valid: '它无效',

  // 服务器上的调用
  call_server_failed:
    '{server} 现在无法使用：{why}它的日志和“{remedy}”按钮在“设置 → 工具服务器”中。',
  call_login_required: '{server} 要求登录。请在“设置 → 工具服务器”中登录。',
  call_server_off: '{server} 已关闭或删除。',
  call_server_starting: '{waiting}，而这次调用的时间已到。什么都没有执行，请过一分钟再试。',
  call_not_sent: '无法连接 {server}，所以没有调用 `{tool}`，什么都没有执行。{why}请稍后再试。',
  call_connection_lost:
    '{server} 在运行 `{tool}` 时停止了，不知道是否已经生效。{why}重复之前请先确认。',
  call_no_server_address:
    '无法调用 {server}：它的文档没有说明服务器在哪里。可以在“设置 → 工具服务器”中填写地址。',
  call_tool_gone: '{server} 已没有这个工具。',
  call_local_tool_gone: '服务器已没有这个工具。',
  call_refused_by_server: '服务器拒绝了这次调用：{said}',
  call_unsure: '{why}不知道调用是否已经生效：重复之前请先确认。',
  call_answer_unreadable: '响应无法读取。',
  call_answer_no_result: '服务器的响应不是工具的结果。',
  call_answer_no_status: '响应没有状态码。',
  call_answer_incomplete: '响应没有完整传来。',
  call_failed_silently: '工具失败了，没有说明原因。',
  call_remote_away:
    '{name} 在这个 Tenon 的另一台服务器上运行，暂时无法联系。什么都没有做。请过几秒再试。',
  call_remote_lost:
    '运行 {name} 的那台 Tenon 服务器在给出结果之前失去了联系。不知道调用是否生效：重复之前请先检查。',
  call_no_page:
    '这个工具在用户自己的电脑上运行，要通过 {device} 中的 Tenon 页面，而现在没有打开这样的页面。什么都没有执行。请在那里打开 Tenon。',
  call_page_lost:
    '{device} 中执行这次调用的页面在响应之前关闭或断开了。不知道调用是否已经生效：重复之前请先确认。',
  call_nothing_there:
    '这个工具在用户自己的电脑上运行，而那里的 {address} 现在没有可用的服务。请去查看。',
  call_refused_by_page: '{said} 什么都没有执行。解决办法见“工具”。',
  call_unreachable_from_page: '{said} 很可能什么都没有执行。解决办法见“工具”。',
  call_key_unsendable: '为这个服务器保存的密钥无法发送：它应是一行，不含控制字符。',
  call_no_client: '这个安全方案没有已知的客户端。',
  call_token_host_untrusted:
    '无法为 `{scheme}` 取得令牌：文档说由 {host} 发放，而它不应看到为 {origins} 保存的内容。如果应该，请在这个服务器的设置中填写发放令牌的地址。',
  call_token_address: '无法为 `{scheme}` 取得令牌：发放令牌的地址无效。',
  call_token_address_insecure: '无法为 `{scheme}` 取得令牌：文档用 https，而发放令牌的地址不是。',
  call_token_address_scheme: '无法为 `{scheme}` 取得令牌：发放令牌的地址既不是 http 也不是 https。',
  call_no_token: '没有调用服务器，因为无法从 {host} 为 `{scheme}` 取得令牌：{why}。',
  call_token_unfetched: '没能取得令牌。',
  token_host_silent: '那里没有响应',
  token_secret_too_long: '它的密码太长',
  token_answer_too_long: '响应太长',
  token_rejected: '它的答复：{said}',
  token_status: '它返回 {status}',
  token_missing: '它的响应中没有令牌',
  token_type: '它发放的令牌 Tenon 无法使用',
  token_invalid: '它的令牌无效',
  wait_starting: '{server} 还在启动',
  wait_queued: '{server} 在等其他服务器启动',
  wait_installing: '{server} 过了 {seconds} 秒还在安装',
  wait_starting_since: '{server} 过了 {seconds} 秒还在启动',
  remedy_restart: '重新启动',
  remedy_refresh: '重新读取',

  // 输入变成请求
  request_not_an_object: '这个工具的输入应是一个对象，每个参数一个字段。',
  request_field_missing: '输入不符合这个工具的格式定义：缺少 `{field}`。',
  request_url_too_long: '输入太长：得到的地址超过 {max} 字节。',
  request_cookies_too_long: 'Cookie 太长。',
  request_not_a_form: '`{field}` 是表单：应是一个对象，每个字段一个值。',
  request_not_a_file:
    '`{field}` 是文件：请把它的内容写成 base64 文本，或 `data:image/png;base64,…`。',
  request_header_value: '`{field}` 会放进请求头：它应是一行，不含控制字符，最多 {max} 字节。',
  request_dot_segment: '无法得到路径 {path}：其中一段会是 `.` 或 `..`。请换一个值。',
  request_path_empty: '`{field}` 是地址的一部分，不能为空。请给出一个值。',
  request_header_name: '无法用请求头 `{name}` 调用这个工具：这不是请求头的名称。',
  request_header_hop_by_hop: '无法用请求头 `{name}` 调用这个工具：它属于连接本身。',
  request_server_variable: '无法调用这个工具：它的说明说它位于 `{server}`，其中有一部分没有说明。',
  request_server_invalid: '无法调用这个工具：它的说明说它位于 `{server}`，而这不是地址：{why}。',
  request_server_scheme:
    '无法调用这个工具：它的说明说它位于 `{server}`，而这既不是 http 也不是 https。',
  request_path_undeclared: '无法调用这个工具：它的说明没有说 {path} 中的 {parameter} 是什么。',
  request_not_repeatable: '这个请求不能发送两次。',
  answer_too_large: '响应超过 {mb} MB，超出了读取的上限。',
  answer_late: '{host} 在 {seconds} 秒内没有响应。',
  redirect_elsewhere:
    '{from} 重定向到另一个网站 {to}，不会跟随。如果那才是服务器，请改填它的地址。',
} satisfies Partial<Record<ErrorCode, string>>;
