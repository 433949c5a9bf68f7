// How Mermaid is to draw: in the colours of the page, and without anything that a diagram could
// use to do more than be seen.

const MAX_EDGES = 400;
const MAX_TEXT_CHARS = 30_000;

export function mermaidConfig(): object {
  const colour = colourReader();
  const [page, tint, text, line, accentTint, accent, side] = [
    ...['--page', '--tint', '--text', '--n6', '--accent-tint', '--accent', '--side'],
  ].map(colour);
  const fontFamily = getComputedStyle(document.body).fontFamily;
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    // Text as SVG has it: HTML inside a picture is not drawn by every browser.
    htmlLabels: false,
    maxEdges: MAX_EDGES,
    maxTextSize: MAX_TEXT_CHARS,
    fontFamily,
    theme: 'base',
    themeVariables: {
      darkMode: isDark(page),
      background: page,
      fontFamily,
      fontSize: '14px',
      primaryColor: tint,
      primaryTextColor: text,
      primaryBorderColor: line,
      secondaryColor: accentTint,
      secondaryTextColor: text,
      secondaryBorderColor: accent,
      tertiaryColor: side,
      tertiaryTextColor: text,
      tertiaryBorderColor: line,
      lineColor: line,
      textColor: text,
      edgeLabelBackground: page,
      noteBkgColor: accentTint,
      noteTextColor: text,
      noteBorderColor: accent,
    },
  };
}

/** Reads tokens as `#rrggbb`: Mermaid computes with colours, and does not know `oklch`. */
function colourReader(): (token: string) => string {
  const probe = document.createElement('span');
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return (token) => {
    probe.style.color = `var(${token})`;
    document.body.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    if (!context) return '#888888';
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  };
}

function isDark(colour = '#ffffff'): boolean {
  return Number.parseInt(colour.slice(1, 3), 16) < 128;
}
