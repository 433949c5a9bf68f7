// How a component shows the HTML of a block: code and pictures in it are components.
import { getAllContexts, mount, onDestroy, unmount, untrack } from 'svelte';
import type { Attachment } from 'svelte/attachments';
import Fence from './Fence.svelte';
import { PatchedHtml, type MountedPart, type MountPart } from './patchedHtml';
import WebImage from './WebImage.svelte';

/** As the dialect writes them. */
const FENCE = '.code';
const PICTURE = 'a.picture';

/** To be called while a component begins. The HTML must be safe; while it is being written, it may
    still grow. */
export function htmlAttachment(
  html: () => string,
  writing: () => boolean,
): Attachment<HTMLElement> {
  // What is mounted by hand has the same context as what is not.
  const context = getAllContexts();
  let patched: PatchedHtml | undefined;
  onDestroy(() => patched?.clear());

  const mountPart: MountPart = (element) =>
    element.matches(FENCE) ? mountFence(element, context) : mountPicture(element, context, writing);

  return (root) => {
    const [text, isWriting] = [html(), writing()];
    untrack(() => {
      if (patched?.root !== root) {
        patched?.clear();
        patched = new PatchedHtml(root, `${FENCE}, ${PICTURE}`, mountPart);
      }
      patched.set(text);
      const open = isWriting ? patched.lastPart : undefined;
      for (const part of patched.parts) {
        if (part instanceof MountedFence) part.props.writing = part === open;
      }
    });
  };
}

class MountedFence implements MountedPart {
  // Until it is known that something follows it, it may be half a diagram.
  props = $state({ text: '', language: '', name: undefined as string | undefined, writing: true });
  #component: Record<string, unknown>;

  constructor(element: HTMLElement, target: Element, context: Map<unknown, unknown>) {
    this.update(element);
    this.#component = mount(Fence, { target, context, props: this.props });
  }

  update(element: Element): boolean {
    if (!(element instanceof HTMLElement && element.matches(FENCE))) return false;
    const { language = '', name } = element.dataset;
    const text = (element.textContent ?? '').replace(/\n$/, '');
    Object.assign(this.props, { text, language, name });
    return true;
  }

  unmount(): void {
    void unmount(this.#component);
  }
}

function mountFence(element: Element, context: Map<unknown, unknown>) {
  const target = document.createElement('div');
  return { target, part: new MountedFence(element as HTMLElement, target, context) };
}

function mountPicture(element: Element, context: Map<unknown, unknown>, writing: () => boolean) {
  const target = document.createElement('span');
  const { url, alt } = pictureOf(element as HTMLAnchorElement);
  const props = {
    url,
    alt,
    get writing() {
      return writing();
    },
  };
  const component = mount(WebImage, { target, context, props });
  const part: MountedPart = {
    update(element) {
      if (!(element instanceof HTMLAnchorElement && element.matches(PICTURE))) return false;
      const wanted = pictureOf(element);
      return wanted.url === url && wanted.alt === alt;
    },
    unmount: () => void unmount(component),
  };
  return { target, part };
}

function pictureOf(link: HTMLAnchorElement) {
  return { url: link.href, alt: link.dataset.picture ?? '' };
}
