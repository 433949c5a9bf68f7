import { expect, test } from 'vitest';
import { BlockSplitter, type Blocks } from './blocks';
import { detailsSourceOf, renderBlock } from './render';
import { tableCsv, tableOf } from './table';
import { loadKatex } from './typeset.svelte';

function splitBlocks(markdown: string, writing = false): Blocks {
  return new BlockSplitter().split(markdown, writing);
}

function html(markdown: string, writing = false): string {
  const { sources, links } = splitBlocks(markdown, writing);
  return sources.map((source) => renderBlock(source, links).trim()).join('\n');
}

test('the usual Markdown becomes the usual HTML', () => {
  const check = (markdown: string, expected: string) => expect(html(markdown)).toBe(expected);
  check('Hello **world**', '<p>Hello <strong>world</strong></p>');
  check('# A\n\nb', '<h1>A</h1>\n<p>b</p>');
  check('- a\n- b', '<ul>\n<li>a</li>\n<li>b</li>\n</ul>');
  check('1 < 2 && "x"', '<p>1 &lt; 2 &amp;&amp; "x"</p>');
  check(
    '```rust\nfn a() {}\n```',
    '<div class="code" data-language="rust"><pre tabindex="0"><code>fn a() {}\n</code></pre></div>',
  );
  check('东京**现在**几点', '<p>东京<strong>现在</strong>几点</p>');
});

test('a link leaves in a new tab and takes nothing with it', () => {
  expect(html('[site](https://example.com/?a=1&b=2)')).toBe(
    '<p><a href="https://example.com/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">site</a></p>',
  );
});

test('a definition at the end serves links in earlier blocks', () => {
  expect(html('See [the site][1].\n\nMore.\n\n[1]: https://example.com')).toContain(
    '<a href="https://example.com"',
  );
});

test('a picture from elsewhere is a link, one that came along is a picture', () => {
  expect(html('![chart](https://example.com/a.png)')).toBe(
    '<p><a class="picture" data-picture="chart" href="https://example.com/a.png" target="_blank" rel="noopener noreferrer">chart <span>example.com</span></a></p>',
  );
  expect(html('![dot](data:image/png;base64,iVBORw0KGgo=)')).toContain('<img src="data:image/png');
});

test('a table scrolls in itself', () => {
  expect(html('| a |\n|---|\n| 1 |')).toMatch(/^<div class="table" tabindex="0"><table>/);
});

test('half-open syntax is closed while the text is being written', () => {
  const check = (markdown: string, expected: string) => expect(html(markdown, true)).toBe(expected);
  check('Hello **wor', '<p>Hello <strong>wor</strong></p>');
  check('Run `npm ci', '<p>Run <code>npm ci</code></p>');
  check('See [the si', '<p>See the si</p>');
  check(
    '```js\nlet a',
    '<div class="code" data-language="js"><pre tabindex="0"><code>let a\n</code></pre></div>',
  );
});

test('only the last block changes while a text grows', () => {
  const text = 'One **two**.\n\n- a\n- b\n\n```js\nlet a = 1;\n```\n\nThe end.';
  let before: readonly string[] = [];
  for (let length = 1; length <= text.length; length += 1) {
    const { sources } = splitBlocks(text.slice(0, length), true);
    // The block that was last may still change when a new one begins.
    const settled = before.slice(0, -1);
    expect(sources.slice(0, settled.length)).toEqual(settled);
    before = sources;
  }
  expect(before).toHaveLength(4);
});

test('a text split as it grows comes out like one split whole', () => {
  const texts = [
    'One **two**.\n\n- a\n- b\n\n  more of b\n\n1. x\n\n```js\nlet a;\n\nb\n```\n\nThe end.',
    'Title\n===\n\n> quote\nlazy\n\n    code\n\n    more\n\n***\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nx',
    'See [one][1] and [two][2].\n\n[1]: https://one.example\n\nMore [one][1].\n\n[2]: https://two.example',
    '\n\n  \r\nA\r\n\r\nB <div>\n\nC\n</div>\n\n- [ ] task\n- [x] done\n\n~~~\nopen',
    'So\n$$\na\n+ b\n$$\nthen\n\n\\[\nx\n\\]\n\n$$ never\n\nclosed',
    'A[^1] b.\n\n[^1]: One\nmore\n\n  and more\n\n[^2]: Two\n\nThe end[^2].\n\n<details>\n<summary>S</summary>\n\nIn\n\n</details>\n\nOut',
  ];
  for (const text of texts) {
    for (const step of [1, 2, 7]) {
      const splitter = new BlockSplitter();
      for (let length = step; length < text.length; length += step) {
        splitter.split(text.slice(0, length), true);
      }
      expect(splitter.split(text, false)).toEqual(splitBlocks(text));
    }
  }
});

test('a definition that is still being written is not taken for the whole', () => {
  const splitter = new BlockSplitter();
  splitter.split('A\n\nB [x][1]\n\n[1]: https://ex', true);
  const { links } = splitter.split('A\n\nB [x][1]\n\n[1]: https://example.com\n\nC', true);
  expect(links['1']?.href).toBe('https://example.com');
});

test('a text that turns out different is split anew', () => {
  const splitter = new BlockSplitter();
  splitter.split('One.\n\nTwo.\n\nThree.', true);
  expect(splitter.split('Other.\n\nTwo.', false).sources).toEqual(['Other.', 'Two.']);
});

test('hostile Markdown is inert', { timeout: 20_000 }, () => {
  const hostile = [
    '<script>alert(1)</script>',
    'a <script>alert(1)</script> b',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)><circle/></svg>',
    '<svg><script>alert(1)</script></svg>',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<div style="background:url(https://evil.example)">x</div>',
    '<form action="https://evil.example"><input type=submit></form>',
    '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
    '<pre><img src=x onerror=alert(1)></pre>',
    '<!-- --><img src=x onerror=alert(1)>',
    '<![CDATA[<img src=x onerror=alert(1)>]]>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java\nscript:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](vbscript:msgbox(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
    '[x](//evil.example)',
    '[x][1]\n\n[1]: javascript:alert(1)',
    '<javascript:alert(1)>',
    '![x](javascript:alert(1))',
    '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)',
    '![x](https://evil.example/pixel.png)',
    '![" onerror="alert(1)](data:image/png;base64,AAAA)',
    '[x](https://e.example/"onmouseover="alert(1))',
    '[x](https://e.example "title" onclick="alert(1)")',
    '```"><img src=x onerror=alert(1)>\ncode\n```',
    '`<img src=x onerror=alert(1)>`',
    '| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |',
    '<style>*{display:none}</style>',
    '<link rel=stylesheet href=https://evil.example>',
    '<base href="https://evil.example">',
    '<details><summary><img src=x onerror=alert(1)></summary><script>alert(1)</script></details>',
    '<details ontoggle=alert(1) open>x</details>',
    '[^"onclick=alert(1)]\n\n[^"onclick=alert(1)]: <img src=x onerror=alert(1)>',
    '<meta http-equiv=refresh content="0;url=https://evil.example">',
  ];
  for (const source of hostile) {
    for (const writing of [false, true]) {
      const page = new DOMParser().parseFromString(html(source, writing), 'text/html');
      const elements = [...page.body.querySelectorAll('*')];
      const names = new Set(elements.map((element) => element.localName));
      for (const name of ['script', 'svg', 'math', 'iframe', 'form', 'style', 'link', 'base']) {
        expect(names, source).not.toContain(name);
      }
      for (const element of elements) {
        for (const { name, value } of element.attributes) {
          expect(name, source).not.toMatch(/^on|^style$/);
          if (name === 'href') expect(value, source).toMatch(/^(https?:\/\/|mailto:)/);
          if (name === 'src') expect(value, source).toMatch(/^data:image\/png;base64,/);
        }
      }
    }
  }
});

test('formulas survive Markdown as they were written', () => {
  const check = (markdown: string, ...formulas: string[]) => {
    const page = new DOMParser().parseFromString(html(markdown), 'text/html');
    const found = [...page.querySelectorAll('.math')].map((element) => element.textContent);
    expect(found, markdown).toEqual(formulas);
  };
  check(String.raw`So \(a^2_1 * b_2*c\) holds.`, String.raw`\(a^2_1 * b_2*c\)`);
  check(String.raw`\[ x = \frac{1}{2} \]`, String.raw`\[ x = \frac{1}{2} \]`);
  check('Then\n$$\na\n+ b\n- c\n$$\nholds.', '$$\na\n+ b\n- c\n$$');
  check('It is $$x$$ here.', '$$x$$');
  check('- item\n\n  $$\n  y\n  $$', '$$\ny\n$$');
  check('公式$E=mc^2$表示，$n$th', '$E=mc^2$', '$n$');
  check(String.raw`$a \$ b$ and $\{x\}$`, String.raw`$a \$ b$`, String.raw`$\{x\}$`);
  check('| $a_1$ | b |\n|---|---|\n| $x*y*z$ | 2 |', '$a_1$', '$x*y*z$');
});

test('prices, shell variables and code are no formulas', () => {
  const texts = [
    'It costs $5 and $10.',
    '$5-$10, $6,$7',
    'US$5 or A$7',
    'between $ 5 $ and $6',
    '$20 million versus 30$',
    '`$a$` and `\\(b\\)`',
    '```\n$$x$$\n```',
    'Use $HOME/bin:$PATH.',
    String.raw`\$5 and \$6`,
    'open \\( for ever',
    '$$ open\n\nfor ever $$',
  ];
  for (const text of texts) expect(html(text), text).not.toContain('class="math');
});

test('a formula being written is closed, and stands as its source', () => {
  for (const [text, source] of [
    ['$$\na + *b', '$$\na + *b\n$$'],
    ['\\[\nx_1\n', '\\[\nx_1\n\\]'],
    ['$$\nx\n$', '$$\nx\n\n$$'],
  ] as const) {
    const blocks = splitBlocks(text, true);
    expect(blocks).toMatchObject({ sources: [source], writingFormula: true });
  }
  expect(splitBlocks('$$x$$', true).writingFormula).toBe(false);
  expect(splitBlocks('$$x', false).writingFormula).toBe(false);
});

test('formulas are drawn, harmless ones only', async () => {
  await loadKatex();
  expect(html(String.raw`\(a^2\)`)).toMatch(/<span class="math"><span class="katex">.*<math/);
  expect(html('$$\\sum_i x_i$$')).toContain('katex-display');
  const broken = html(String.raw`\(\frac{1\)`);
  expect(broken).toContain(String.raw`<span class="math broken">\(\frac{1\)</span>`);

  const hostile = [
    String.raw`\href{javascript:alert(1)}{x}`,
    String.raw`\url{javascript:alert(1)}`,
    String.raw`\includegraphics{https://evil.example/a.png}`,
    String.raw`\htmlStyle{background:url(https://evil.example)}{x}`,
    String.raw`\htmlData{x=1}{y}\htmlId{app}{z}`,
    String.raw`\text{<img src=x onerror=alert(1)>}`,
    String.raw`\def\a{\a\a}\a`,
    String.raw`\def\a#1{#1#1#1#1}\def\b#1{\a{\a{\a{#1}}}}\b{\b{\b{\b{x}}}}`,
    String.raw`\rule{9999999em}{9999999em}`,
    String.raw`\unicode{x} </span><script>alert(1)</script>`,
    '{'.repeat(5000),
  ];
  for (const tex of hostile) {
    const began = performance.now();
    const page = new DOMParser().parseFromString(html(`$$${tex}$$`), 'text/html');
    expect(performance.now() - began, tex).toBeLessThan(1500);
    expect(page.querySelector('script, img, a, iframe, style, [id]'), tex).toBeNull();
    for (const element of page.body.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        expect(name, tex).not.toMatch(/^on|href|src$/);
        if (name === 'style') {
          expect(value, tex).not.toMatch(/url|position: *fixed/);
          for (const [, size] of value.matchAll(/([\d.]+)em/g))
            expect(Number(size)).toBeLessThan(99);
        }
      }
    }
  }
});

test('the columns of a table keep their alignment', () => {
  const page = new DOMParser().parseFromString(
    html('| a | b | c | d |\n|---|:--|:-:|--:|\n| 1 | 2 | 3 | 4 |'),
    'text/html',
  );
  for (const row of page.querySelectorAll('tr')) {
    const sides = [...row.children].map((cell) => cell.getAttribute('align'));
    expect(sides).toEqual([null, 'left', 'center', 'right']);
  }
});

test('a table becomes CSV', () => {
  const check = (markdown: string, csv: string) => {
    const table = tableOf(markdown);
    expect(table && tableCsv(table)).toBe(csv);
  };
  check('| a | **b** |\n|---|---|\n| 1,5 | x "y" |', 'a,b\r\n"1,5","x ""y"""\r\n');
  check('| 名 | [l](https://e.example) |\n|--|--|\n| `c\\|d` | $x_1$ |', '名,l\r\nc|d,$x_1$\r\n');
  check('| a |\n|--|\n| =1+1 |\n| -5 |\n| -x |', "a\r\n'=1+1\r\n-5\r\n'-x\r\n");
  check('| a |\n|--|\n| b<br>c |', 'a\r\n"b\nc"\r\n');
  expect(tableOf('a | b')).toBeUndefined();
  expect(tableOf('| a |\n|--|\n\nText')).toBeUndefined();
});

test('footnotes are numbered as written, and only where there is one', () => {
  const text = 'Old[^1], [^none].\n\n[^1]: Legendre, *1805*.\n[^b]: https://example.com';
  expect(splitBlocks(text).notes).toEqual({ 1: 'Legendre, *1805*.', b: 'https://example.com' });
  expect(html(text)).toBe(
    '<p>Old<sup><button type="button" class="note" data-note="1">1</button></sup>, [^none].</p>',
  );
});

test('details fold Markdown away, nested ones too', () => {
  const inner = '<details><summary>B</summary>\n\n**b**\n\n</details>';
  const text = `<details open>\n<summary>A <b>c</b></summary>\n\n- a\n\n${inner}\n\n</details>\n\nEnd`;
  const { sources, links } = splitBlocks(text);
  expect(sources).toHaveLength(2);
  const details = detailsSourceOf(sources[0] ?? '', links);
  expect(details).toEqual({ summary: 'A c', text: `- a\n\n${inner}`, open: true });
  expect(html(inner)).toContain('<details><summary>B</summary><p><strong>b</strong></p>');
  // One that is still being written.
  expect(detailsSourceOf('<details>\n<summary>A</summary>\nx</det', {})?.text).toBe('x');
});
