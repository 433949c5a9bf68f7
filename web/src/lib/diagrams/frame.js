// Runs inside the sandboxed frame, beside Mermaid: draws what the page sends, one after another.
// Nothing here is trusted by the page, since a diagram may get the better of Mermaid.
let queue = Promise.resolve();

addEventListener('message', ({ source, data }) => {
  if (source !== parent) return;
  if (data.library) {
    const script = document.createElement('script');
    script.textContent = data.library;
    document.head.append(script);
  } else if (typeof data.diagram === 'string') {
    queue = queue.then(() => draw(data));
  }
});

async function draw({ id, diagram, config }) {
  try {
    mermaid.initialize(config);
    const { svg } = await mermaid.render(`diagram-${id}`, diagram);
    const box = document.createElement('div');
    box.innerHTML = svg;
    const picture = box.querySelector('svg');
    const { width, height } = picture.viewBox.baseVal;
    picture.style.removeProperty('max-width');
    picture.setAttribute('width', width);
    picture.setAttribute('height', height);
    const text = new XMLSerializer().serializeToString(picture);
    tell({ id, svg: text, width, height });
  } catch (error) {
    // What was half drawn would be in the way of the next.
    document.body.replaceChildren();
    tell({ id, error: String(error?.message ?? error) });
  }
}

function tell(message) {
  parent.postMessage({ type: 'diagram', ...message }, '*');
}

tell({ ready: true });
