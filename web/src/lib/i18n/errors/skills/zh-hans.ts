// Skills: why one cannot be installed or used. Told to a person; the model reads the English.
import type { ErrorCode } from '../en';

export const skillErrorsZhHans = {
  // 使用
  skill_removed: '技能 {name} 已被移除或关闭。',
  skill_tool_gone: '技能 {name} 已更新，不再有这个工具。',
  skill_not_set_up: '技能 {name} 无法使用：{why} 可在“设置 → 技能”中修复。',
  skill_setting_up: '技能 {name} 的软件包还在安装，请一分钟后再试。',
  skill_value_missing: '技能 {name} 需要 `{variable}` 的值。可在“设置 → 技能”中填写。',
  skill_value_invalid:
    '技能 {name} 中 `{variable}` 的值不能放进请求头：它必须是一行。可在“设置 → 技能”中更改。',
  skill_no_builtin: '这里没有内置工具 `{tool}`。',
  skill_no_file: '这个技能没有文件 `{file}`。它有：{files}',
  skill_file_not_text: '`{file}` 不是文本，可以用脚本读取。',
  skill_no_script: '`{file}` 不是这个技能的脚本。它的脚本有：{files}',
  skill_no_program: '服务器上没有安装 `{program}`，或沙箱看不到它。请先安装。',
  skill_sandbox: '无法启动运行脚本的沙箱：{why}。',
  skill_exited: '脚本失败，退出码 {code}：{said}',
  skill_signaled: '脚本被信号 {signal} 终止，很可能是内存超出限制。{said}',
  skill_timed_out: '脚本运行超过 {seconds} 秒，已终止。',
  skill_cpu_limit: '脚本使用的处理器时间超出限制，已终止。',
  skill_output_limit: '脚本的输出超出限制，已终止。请减少内容，或让它写入文件。',
  skill_raised: '工具失败：{said}',
  skill_worker_ended: '工具的程序在回答之前就结束了。{said}',

  // 安装软件包
  setup_no_python:
    '服务器上没有带 `venv` 的 Python 3。请安装它（Debian：`apt install python3-venv`）或 `uv`，然后重试。',
  setup_no_node: '服务器上没有 `npm`。请安装 Node.js，然后重试。',
  setup_no_network:
    '{program} 无法连接软件包索引。请检查此服务器的网络，或设置镜像（`PIP_INDEX_URL`、`npm_config_registry`）后重试。它的提示：{said}',
  setup_failed: '{program} 无法安装软件包：{said}',
  setup_timed_out: '安装软件包超过 {seconds} 秒。请检查服务器的网络，然后重试。',
  setup_sandbox: '无法启动安装软件包的沙箱：{why}。',
  setup_files: '无法写入技能的文件：{why}。',

  // 安装与设置
  skill_no_input:
    '请说明技能在哪里：服务器上的文件夹或压缩包（`path`），或文件及其名称（`fileName` 和 Base64 的 `content`）。',
  skill_content: '文件不是 Base64。',
  skill_path_for_admins: '只有管理员可以从服务器上的文件夹安装。请改为上传 .zip 文件。',
  skill_no_such_path: '服务器上没有 {path}。请写出文件夹、压缩包或 SKILL.md 的完整路径。',
  skill_no_origin: '这个技能不是从文件夹安装的。请用文件安装新版本。',
  skill_package: '{file} 第 {line} 行：{why}',
  skill_package_file: '{file}：{why}',
  skill_nothing_chosen: '所选的技能都已不是刚才显示的样子。请重新查看。',
  skill_programs_for_admins:
    '{name} 会在服务器上运行程序或内置工具。只有管理员可以安装这样的技能。',
  skill_team_for_admins: '只有管理员可以把技能共享给所有人。',
  skill_owner_is_no_admin: '它会运行程序，而安装它的人已不再是管理员。',
  skill_update_failed: '新版本无法就绪，因此继续使用之前的版本：{why}',
  skill_not_yours: '只有安装者或管理员可以更改这个技能。',
  skill_network_for_admins: '只有管理员可以允许技能的脚本使用网络。',
  skill_no_such_builtin: '工具 `{tool}` 对应的内置工具 `{builtin}` 在这里不存在。',
  skill_no_such_variable: '这个技能没有要求 `{name}` 的值。',
  skill_value_too_long: '`{name}` 的值超过 {max} 字节。',
  skill_settings: '设置不符合要求：{why}',
  skill_no_such_file: '这个技能没有文件 `{file}`。',
  skill_no_such_version: '技能的这个版本已不再保留。',
  skill_language:
    '代码既不是带 `Tools` 类的 Python，也不是导出函数的 JavaScript。请说明语言：`python` 或 `node`。',
  skill_code_too_long: '代码超过 {max} 字节。',
  skill_code: '{why}',
  skill_check_failed: '{why}',
  skill_files: '无法写入技能的文件：{why}。',
} satisfies Partial<Record<ErrorCode, string>>;
