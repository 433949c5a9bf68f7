// What is asked and answered in the pictures of docs/screens, in each of their languages.

const fenced = (info, text) => `\`\`\`${info}\n${text}\n\`\`\``;

const python = `from datetime import date

def days_left(day: date, today: date) -> int:
    return (day - today).days`;

const page = `<!doctype html>
<html lang="en">
  <style>
    body { font: 16px/1.5 system-ui; margin: 2rem; color: #1d2b2a; }
    h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
    li { margin: .5rem 0; padding: .6rem .8rem; border: 1px solid #cdd9d7; border-radius: 8px; list-style: none; }
    ul { padding: 0; }
    b { float: right; color: #00746f; }
  </style>
  <h1>Launch countdown</h1>
  <p>Three milestones are ahead.</p>
  <ul>
    <li>Code freeze <b>14 days</b></li>
    <li>Release <b>21 days</b></li>
    <li>Review <b>28 days</b></li>
  </ul>
</html>`;

export const words = {
  'en-GB': {
    folders: ['Launch', 'Research'],
    chats: [
      'Compare the two hosting offers',
      'Why does the nightly build fail?',
      'Translate the release notes',
      'Plan the team day in Lisbon',
    ],
    greeting: 'Here is what I found.',
    answer: {
      file: [
        'launch-notes.md',
        '# Launch\n\n- Freeze: 1 December\n- Release: 8 December\n- Review: 15 December\n',
      ],
      title: 'Launch dates',
      question: 'Which dates are in my launch notes, and how many days are left?',
      answer: `The notes name three dates. Counted from 17 November:

| Milestone | Date | Days left |
| :-- | :-- | --: |
| Freeze | 1 December | 14 |
| Release | 8 December | 21 |
| Review | 15 December | 28 |

${fenced('python', python)}

On average $\\bar{d} = \\frac{14 + 21 + 28}{3} = 21$ days are left.`,
    },
    preview: {
      title: 'Countdown page',
      question: 'Make a small page that counts down to the launch.',
      answer: `Here it is. Open the preview to see it beside the chat.\n\n${fenced('html countdown.html', page)}`,
    },
    chat: {
      title: 'Tokyo, Lisbon and 15 %',
      question: 'What time is it in Tokyo and in Lisbon, and what is 15 % of 1,284?',
      calls: [
        { tool: 'current_time', input: { timezone: 'Asia/Tokyo' } },
        { tool: 'current_time', input: { timezone: 'Europe/Lisbon' } },
        { tool: 'calculate', input: { expression: '1284 * 0.15' } },
      ],
      answer:
        'Tokyo is nine hours ahead of Lisbon, so a call in the Lisbon morning reaches Tokyo in the evening.\n\n15 % of 1,284 is **192.6**.',
    },
  },
  'zh-CN': {
    folders: ['发布', '研究资料'],
    chats: ['比较两家云服务的报价', '夜间构建为什么失败？', '翻译发布说明', '安排团队活动'],
    greeting: '这是我找到的内容。',
    answer: {
      file: [
        '发布笔记.md',
        '# 发布\n\n- 冻结：12 月 1 日\n- 发布：12 月 8 日\n- 复盘：12 月 15 日\n',
      ],
      title: '发布日期',
      question: '我的发布笔记里有哪些日期，还剩几天？',
      answer: `笔记里有三个日期，从 11 月 17 日算起：

| 里程碑 | 日期 | 剩余天数 |
| :-- | :-- | --: |
| 冻结 | 12 月 1 日 | 14 |
| 发布 | 12 月 8 日 | 21 |
| 复盘 | 12 月 15 日 | 28 |

平均还剩 $\\bar{d} = \\frac{14 + 21 + 28}{3} = 21$ 天。`,
    },
    approval: {
      question: '把这三个日期存进 notes.md。',
      input: {
        path: 'notes.md',
        content: '- 冻结：12 月 1 日\n- 发布：12 月 8 日\n- 复盘：12 月 15 日',
      },
    },
  },
  'zh-TW': {
    folders: ['發布', '研究資料'],
    chats: ['比較兩家雲端服務的報價', '夜間建置為什麼失敗？', '翻譯發布說明', '安排團隊活動'],
    greeting: '這是我找到的內容。',
    chat: {
      title: '東京與里斯本的時間',
      question: '東京和里斯本現在幾點？1,284 的 15 % 是多少？',
      calls: [
        { tool: 'current_time', input: { timezone: 'Asia/Tokyo' } },
        { tool: 'current_time', input: { timezone: 'Europe/Lisbon' } },
        { tool: 'calculate', input: { expression: '1284 * 0.15' } },
      ],
      answer:
        '東京比里斯本早九個小時，里斯本上午打的電話，東京那邊已是傍晚。\n\n1,284 的 15 % 是 **192.6**。',
    },
  },
};
