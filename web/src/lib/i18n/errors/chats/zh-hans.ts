// Why a file cannot be imported as a chat. Each follows a sentence that says so.
import type { ErrorCode } from '../en';

export const chatErrorsZhHans = {
  chat_import_too_large: '它超过 {mib} MiB。请在导出对话时不带文件；更长的对话无法导入。',
  chat_import_too_many_values: '其中的值比任何对话都多。',
  chat_import_not_exported: '它不是 Tenon 以 JSON 导出的对话：“format”不是“{format}”。',
  chat_import_unreadable: '它不是 Tenon 以 JSON 导出的对话：第 {line} 行第 {column} 列无法读取。',
  chat_import_version:
    '它的版本是 {version}，而这个 Tenon 读取的是版本 {known}。请用导出它的那个 Tenon 导入。',
  chat_import_too_many_messages: '它有 {count} 条消息和调用，最多只能导入 {max} 条。',
  chat_import_same_file: '其中有两个文件的 ID 都是“{id}”。',
  chat_import_same_turn: '其中有两个回合的 ID 都是“{id}”。',
  chat_import_same_message: '其中有两条消息的 ID 都是“{id}”。',
  chat_import_same_call: '其中有两次调用的 ID 都是“{id}”。',
  chat_import_unknown_turn: '其中提到了前面没有出现过的回合“{id}”。',
  chat_import_unknown_call: '其中提到了前面没有出现过的调用“{id}”。',
  chat_import_no_question: '回合“{turn}”不是由人开始的。',
  chat_import_person_calls_tool: '在回合“{turn}”中，调用工具的是人。',
  chat_import_person_speaks_twice: '在回合“{turn}”中，人说了两次话。',
  chat_import_foreign_call: '调用“{id}”属于另一条消息。',
  chat_import_call_without_part: '调用“{id}”没有出现在它的消息中。',
  chat_import_file: '其中的文件“{name}”不是 Base64 编码。',
  chat_import_settings: '其中的设置无法使用：{why}',
} satisfies Partial<Record<ErrorCode, string>>;
