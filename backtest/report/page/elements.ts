/** Finds and creates elements of the page. Text is inserted as text, never parsed as markup. */
import { ReportPageError } from './report-page-error.ts';

/** Throws ReportPageError if the page has no element with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null)
    throw new ReportPageError(
      `finding element "${id}" of the report: the page has none; create the report again`,
    );
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

/** The same markup as `cell` of the renderer. */
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
