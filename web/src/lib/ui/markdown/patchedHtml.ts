// HTML that changes where it stands: what is the same in it stays the same elements, with what is
// selected there and how far it is scrolled. Components are put into the places that it has for
// them, and stay as long as their places do.

/** A component that stands in the place of an element. */
export interface MountedPart {
  /** Takes what the element says now. False: it is of another kind. */
  update(element: Element): boolean;
  unmount(): void;
}

/** The part for an element, with the element that it is put into. */
export type MountPart = (element: Element) => { target: Element; part: MountedPart };

export class PatchedHtml {
  readonly root: Element;
  #places: string;
  #mountPart: MountPart;
  #parts = new Map<Node, MountedPart>();

  /** `places` selects the elements that parts stand for; none is in another one. */
  constructor(root: Element, places: string, mountPart: MountPart) {
    this.root = root;
    this.#places = places;
    this.#mountPart = mountPart;
  }

  /** The HTML must be safe. */
  set(html: string): void {
    const template = document.createElement('template');
    template.innerHTML = html;
    this.#patch(this.root, template.content);
  }

  get parts(): Iterable<MountedPart> {
    return this.#parts.values();
  }

  /** The part that nothing follows. */
  get lastPart(): MountedPart | undefined {
    let node: Node = this.root;
    for (;;) {
      const part = this.#parts.get(node);
      if (part) return part;
      let last = node.lastChild;
      while (last instanceof Text && last.data.trim() === '') last = last.previousSibling;
      if (!last) return undefined;
      node = last;
    }
  }

  clear(): void {
    for (const part of this.#parts.values()) part.unmount();
    this.#parts.clear();
  }

  /** A growing text changes at its end: what comes first is found in its place. */
  #patch(parent: Node, wanted: Node): void {
    let old = parent.firstChild;
    for (const node of [...wanted.childNodes]) {
      const following = old?.nextSibling ?? null;
      if (!old || !this.#keeps(old, node)) {
        parent.insertBefore(node, old);
        if (old) this.#remove(old);
        this.#fill(node);
      }
      old = following;
    }
    while (old) {
      const following = old.nextSibling;
      this.#remove(old);
      old = following;
    }
  }

  /** Whether what is there has become what is wanted. */
  #keeps(old: Node, wanted: Node): boolean {
    const part = this.#parts.get(old);
    if (part) return wanted instanceof Element && part.update(wanted);
    // The browser compares whole trees in less time than it takes to walk them here.
    if (old.isEqualNode(wanted)) return true;
    if (old instanceof Text && wanted instanceof Text) {
      write(old, wanted.data);
      return true;
    }
    if (!(old instanceof Element && wanted instanceof Element) || !haveSameTag(old, wanted)) {
      return false;
    }
    this.#patch(old, wanted);
    return true;
  }

  #fill(node: Node): void {
    if (!(node instanceof Element)) return;
    const inside = node.querySelectorAll(this.#places);
    for (const element of node.matches(this.#places) ? [node] : inside) {
      const { target, part } = this.#mountPart(element);
      element.replaceWith(target);
      this.#parts.set(target, part);
    }
  }

  #remove(node: ChildNode): void {
    for (const [target, part] of this.#parts) {
      if (!node.contains(target)) continue;
      part.unmount();
      this.#parts.delete(target);
    }
    node.remove();
  }
}

/** What is selected in a text stays selected while it grows. */
function write(text: Text, data: string): void {
  if (data.startsWith(text.data)) text.appendData(data.slice(text.data.length));
  else text.data = data;
}

function haveSameTag(old: Element, wanted: Element): boolean {
  // What its reader opened stays open.
  if (old instanceof HTMLDetailsElement && wanted instanceof HTMLDetailsElement) {
    wanted.open = old.open;
  }
  return (
    old.nodeName === wanted.nodeName &&
    old.attributes.length === wanted.attributes.length &&
    [...old.attributes].every(({ name, value }) => wanted.getAttribute(name) === value)
  );
}
