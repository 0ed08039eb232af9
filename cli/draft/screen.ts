/** What `autoscaler setup --draft` prints: the pools, what they do not cover, and what to do next. */
import { some, tagText } from '../../lambda/explain/format.ts';
import { DEFAULT_CONFIG } from '../shared/cli-environment.ts';
import { plainTable, wrapLines } from '../shared/plain-table.ts';
import { shellLine } from '../shared/shell-words.ts';
import type { DraftPool } from './draft.ts';

export type DraftResult = {
  readonly version: 1;
  readonly file: string;
  readonly coderd: { readonly url: string; readonly version: string; readonly user: string };
  readonly pools: readonly DraftPool[];
  readonly notes: readonly string[];
};

/** `columns`: of the terminal. */
export function screen(result: DraftResult, columns: number | undefined): string {
  const { file, coderd, pools } = result;
  const option = file === DEFAULT_CONFIG ? [] : ['--config', file];
  const lines = [
    `coderd: ${coderd.url}, ${coderd.version}; the token's user is "${coderd.user}"`,
    `${file}: written, with ${some(pools.length, 'pool')}`,
    '',
    poolsText(result),
    '',
    `Next: ${shellLine(['npx', 'autoscaler', 'setup', ...option])} does the other steps, and with --print it shows their commands.`,
    '',
  ];
  return wrapLines(lines.join('\n'), columns);
}

const ARM64 =
  'Tasks run on arm64, the default. If an image or a Terraform provider has no arm64 build, write defaults.architecture: x86_64.';

export function poolsText({ pools, notes }: DraftResult): string {
  const columns = ['pool', 'organization', 'tags', 'templates'] as const;
  const table = plainTable(
    columns.map((head) => ({ head, align: 'left' })),
    pools.map(({ name, organization, tags, templates }) => [
      name,
      organization,
      tagText(tags),
      templates.length === 0 ? '(none yet)' : String(templates.length),
    ]),
  );
  return [table, '', ARM64, '', 'Not covered:', ...notes.map((note) => `  - ${note}`)].join('\n');
}
