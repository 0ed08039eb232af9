/** Servers and proxies repeat headers. Hidden before anything reads the answer, so none is cut into two. */

type Answer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

/** A shorter text may stand in data by chance. coderd's tokens and keys are longer. */
const LEAST_IN_DATA = 8;

/** The answer without the secrets, in its text and in the values of its headers. */
export function withoutSecrets<T extends Answer>(answer: T, secrets: readonly string[]): T {
  const hidden =
    answer.statusCode === 200 ? secrets.filter(({ length }) => length >= LEAST_IN_DATA) : secrets;
  const forms = hidden.flatMap(formsOf);
  const hide = (text: string): string =>
    forms.reduce((shown, form) => shown.replaceAll(form, '(hidden)'), text);
  const headers = Object.entries(answer.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(hide) : value && hide(value),
  ]);
  return { ...answer, headers: Object.fromEntries(headers), text: hide(answer.text) };
}

/** A secret as it is, in a URL, in JSON (that of Go too) and in base64. */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const goJson = json.replaceAll(/[<>&]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`);
  const base64 = (['base64', 'base64url'] as const).map((form) => Buffer.from(secret).toString(form));
  return [...new Set([secret, encodeURIComponent(secret), json, goJson, ...base64])];
}
