/**
 * Writes the page of the construct's API from the doc comments of what `infra/index.ts` exports. oxc-parser, which knip
 * brings too, parses them: TypeScript 7 has an API for parsing, and calls it unstable.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Comment, type Program, parseSync } from 'oxc-parser';

const INDEX = 'infra/index.ts';

type Span = { readonly start: number; readonly end: number };
type Statement = Program['body'][number];
type Declaration = NonNullable<Extract<Statement, { type: 'ExportNamedDeclaration' }>['declaration']>;
type Source = {
  readonly text: string;
  readonly body: readonly Statement[];
  readonly comments: readonly Comment[];
};

/** A section for each exported name, in the order of the alphabet. */
export function renderApi(): string {
  return exportsOf(readSource(INDEX))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
    .map(({ name, file }) => renderExport(name, readSource(file)))
    .join('\n\n');
}

function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, text);
  return { text, body: program.body, comments };
}

function exportsOf({ body }: Source): readonly { readonly name: string; readonly file: string }[] {
  return body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.source === null) return [];
    const file = join(dirname(INDEX), statement.source.value);
    return statement.specifiers.flatMap(({ exported }) =>
      exported.type === 'Identifier' ? [{ name: exported.name, file }] : [],
    );
  });
}

function renderExport(name: string, source: Source): string {
  for (const statement of source.body) {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) continue;
    const { declaration } = statement;
    if (!('id' in declaration) || declaration.id?.type !== 'Identifier' || declaration.id.name !== name)
      continue;
    const parts = [`## ${name}`, docOf(statement, source).text, ...partsOf(declaration, source)];
    return parts.filter((part) => part !== '').join('\n\n');
  }
  throw new Error(`writing the page of the API: no file declares ${name}, which ${INDEX} exports`);
}

type Member = Span & { readonly name: string; readonly isMethod: boolean };

function partsOf(declaration: Declaration, source: Source): readonly string[] {
  if (declaration.type === 'ClassDeclaration' || declaration.type === 'TSInterfaceDeclaration') {
    const members = membersOf(declaration.body.body, source);
    return [codeBlock(signatureOf(declaration, source)), ...membersText(members, source)];
  }
  if (declaration.type !== 'TSTypeAliasDeclaration') return [codeBlock(signatureOf(declaration, source))];
  const { typeAnnotation } = declaration;
  if (typeAnnotation.type === 'TSTypeLiteral')
    return membersText(membersOf(typeAnnotation.members, source), source);
  return [codeBlock(`type ${declaration.id.name} = ${textAt(typeAnnotation, source)}`)];
}

/** What a user may read or call: no private member, and no name that only overrides that of Error. */
function membersOf(
  nodes: readonly (Span & { readonly type: string; readonly key?: unknown; readonly override?: boolean })[],
  { text }: Source,
): readonly Member[] {
  return nodes.flatMap(({ start, end, type, key, override }) => {
    const isMethod = /Method/.test(type) && !/^(?:static )?get /.test(text.slice(start, end));
    const { name } = (key ?? {}) as { readonly name?: string };
    const isPrivate = (key as { readonly type?: string } | undefined)?.type === 'PrivateIdentifier';
    return name === undefined || isPrivate || override === true ? [] : [{ name, isMethod, start, end }];
  });
}

function membersText(members: readonly Member[], source: Source): readonly string[] {
  const methods = members.filter(({ isMethod }) => isMethod);
  const fields = members.filter(({ isMethod }) => !isMethod);
  const rows = fields.map((field) => fieldRow(field, source));
  const isOptional = rows.some(({ length }) => length > 3);
  const heads = ['name', 'type', 'meaning', ...(isOptional ? ['if it is not given'] : [])];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const filled = rows.map((row) => heads.map((_, index) => row[index] ?? ''));
  const table = [heads, heads.map(() => '---'), ...filled].map(line).join('\n');
  return [...(rows.length > 0 ? [table] : []), ...methods.map((method) => methodText(method, source))];
}

/** Name, type and meaning, and what holds without it if it may be left out. */
function fieldRow(field: Member, source: Source): readonly string[] {
  const declared = signatureOf(field, source).replace(/^(?:override |readonly |get )*/, '');
  const [, optional = '', type = ''] = /^\w+(?:\(\))?(\??): ([\s\S]*?);?$/.exec(declared) ?? [];
  const { text, fallback } = docOf(field, source);
  const cells = [`\`${field.name}\``, `\`${type}\``, text];
  return [...cells, ...(optional === '' ? [] : [fallback ?? 'none'])].map(cell);
}

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

function methodText(method: Member, source: Source): string {
  const { text } = docOf(method, source);
  const signature = signatureOf(method, source).replace(/;$/, '');
  const title = method.name === 'constructor' ? 'new' : method.name;
  return [`### ${title}`, codeBlock(signature), text].filter((part) => part !== '').join('\n\n');
}

const codeBlock = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``;

const textAt = ({ start, end }: Span, { text }: Source): string => text.slice(start, end);

/** A declaration without its body. */
function signatureOf(node: Span & { readonly type?: string }, source: Source): string {
  return textAt(node, source)
    .replace(/ \{\n[\s\S]*$/, '')
    .replaceAll(/\n {2}/g, '\n');
}

type Doc = { readonly text: string; readonly fallback: string | undefined };

/** The comment that ends just above a node, and what its `@default` says. */
function docOf({ start }: Span, { text, comments }: Source): Doc {
  const comment = comments.find(({ end }) => end < start && text.slice(end, start).trim() === '');
  if (comment?.value.startsWith('*') !== true) return { text: '', fallback: undefined };
  const lines = comment.value.slice(1).split('\n');
  const plain = lines
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .trim();
  const [words = '', fallback] = plain.split(/\s*@default\s+/);
  const linked = words.replaceAll(/\bdocs\/([a-z-]+\.md)/g, '[$1]($1)');
  return { text: linked.replaceAll(/(?<!\n)\n(?!\n)/g, ' '), fallback: fallback?.replaceAll('\n', ' ') };
}
