/** Elements of the page. Text goes in as text: nothing here reads markup. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`finding an element of the report: there is no "${id}"`);
  return found;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  content: string | readonly Node[],
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.append(...(typeof content === 'string' ? [content] : content));
  return made;
}

/** A cell like those that the renderer makes. */
export function figureCell(value: number, text: string): HTMLElement {
  const data = element('data', text);
  data.value = String(value);
  return element('td', [data]);
}

export function tableOf(heads: readonly string[], rows: readonly (readonly HTMLElement[])[]): HTMLElement {
  const head = element('tr', heads.map(columnHead));
  const body = rows.map((row) => element('tr', row));
  return element('table', [element('thead', [head]), element('tbody', body)]);
}

export function rowHead(text: string): HTMLElement {
  const head = element('th', text);
  head.scope = 'row';
  return head;
}

function columnHead(text: string): HTMLElement {
  const head = element('th', text);
  head.scope = 'col';
  return head;
}
