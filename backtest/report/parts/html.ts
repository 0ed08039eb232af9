/** Markup that is safe by construction: whatever is put into the template is escaped, unless it is markup itself. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Content = string | number | Html | readonly Html[];

export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(parts.map((part, at) => part + textOf(contents[at] ?? '')).join(''));
}

/** For a `<script>` that holds data: no text in it can end the script or begin a comment. */
export function jsonForScript(data: unknown): Html {
  return new Html(JSON.stringify(data).replaceAll('<', '\\u003c'));
}

function textOf(content: Content): string {
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(textOf).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
