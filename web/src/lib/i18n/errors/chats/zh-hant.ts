// Why a file cannot be imported as a chat. Each follows a sentence that says so.
import type { ErrorCode } from '../en';

export const chatErrorsZhHant = {
  chat_import_too_large: '它超過 {mib} MiB。請在匯出對話時不帶檔案；更長的對話無法匯入。',
  chat_import_too_many_values: '其中的值比任何對話都多。',
  chat_import_not_exported: '它不是 Tenon 以 JSON 匯出的對話：「format」不是「{format}」。',
  chat_import_unreadable: '它不是 Tenon 以 JSON 匯出的對話：第 {line} 行第 {column} 列無法讀取。',
  chat_import_version:
    '它的版本是 {version}，而這個 Tenon 讀取的是版本 {known}。請用匯出它的那個 Tenon 匯入。',
  chat_import_too_many_messages: '它有 {count} 則訊息和呼叫，最多只能匯入 {max} 則。',
  chat_import_same_file: '其中有兩個檔案的 ID 都是「{id}」。',
  chat_import_same_turn: '其中有兩個回合的 ID 都是「{id}」。',
  chat_import_same_message: '其中有兩則訊息的 ID 都是「{id}」。',
  chat_import_same_call: '其中有兩次呼叫的 ID 都是「{id}」。',
  chat_import_unknown_turn: '其中提到了前面沒有出現過的回合「{id}」。',
  chat_import_unknown_call: '其中提到了前面沒有出現過的呼叫「{id}」。',
  chat_import_no_question: '回合「{turn}」不是由人開始的。',
  chat_import_person_calls_tool: '在回合「{turn}」中，呼叫工具的是人。',
  chat_import_person_speaks_twice: '在回合「{turn}」中，人說了兩次話。',
  chat_import_foreign_call: '呼叫「{id}」屬於另一則訊息。',
  chat_import_call_without_part: '呼叫「{id}」沒有出現在它的訊息中。',
  chat_import_file: '其中的檔案「{name}」不是 Base64 編碼。',
  chat_import_settings: '其中的設定無法使用：{why}',
} satisfies Partial<Record<ErrorCode, string>>;
