/** Reads the templates from a folder or from coderd, and what first builds cost from coderd. */
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { makeClients } from '../../lambda/connect.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import { whileWorking } from '../shared/activity.ts';
import { type CliEnvironment, UsageError } from '../shared/cli-environment.ts';
import { type FirstBuilds, readFirstBuilds } from './first-builds.ts';
import { readTemplatesOfCoderd, type TemplateSurvey } from './templates/from-coderd.ts';
import { readTemplatesOfFolder } from './templates/from-folder.ts';
import type { Template } from './templates/template.ts';

type Deployed = {
  readonly config: Pick<Config, 'coder'>;
  readonly caBundle: string | undefined;
  readonly pools: readonly PoolConfig[];
};

export type Survey = TemplateSurvey & { readonly firstBuilds: FirstBuilds };

/** No job waits for it. coderd's rate limit holds for a minute. */
const PATIENCE = { patience: { silentMs: 30_000, retryMs: 90_000 }, wholeMs: 120_000 } as const;
const ALL_MS = 600_000;

/** Throws InputError. */
export async function surveyTemplates(
  deployed: Deployed,
  { dir }: { readonly dir?: string },
  cliEnvironment: CliEnvironment,
): Promise<Survey> {
  if (dir !== undefined) return { templates: readTemplatesOfFolder(dir), others: [], firstBuilds: UNREAD };
  const { coderd, close } = connectTo(deployed, cliEnvironment);
  const { pools } = deployed;
  try {
    const templates = await whileWorking('reading templates from coderd', cliEnvironment, () =>
      readTemplatesOfCoderd(coderd, pools, AbortSignal.timeout(ALL_MS)),
    );
    const firstBuilds = await whileWorking('reading builds from coderd', cliEnvironment, () =>
      readFirstBuilds(coderd, pools, cliEnvironment.now()),
    );
    return { ...templates, firstBuilds };
  } finally {
    await close();
  }
}

const UNREAD: FirstBuilds = { kind: 'none', why: 'with --dir the command reads nothing from coderd' };

/** The token of the shell comes before that of the secret, as for `autoscaler init`. */
function connectTo({ config, caBundle }: Deployed, { environment }: CliEnvironment) {
  const token = environment.CODER_SESSION_TOKEN?.trim() || undefined;
  if (token === undefined) return makeClients(config, caBundle, PATIENCE);
  const { url, proxy } = config.coder;
  const source = { read: async () => new Secret(token) };
  const coderd = new CoderdHttp({ url, proxy, caBundle, token: source, ...PATIENCE });
  return { coderd, close: () => coderd.close() };
}

/** The templates with these names; all if there are no names. Throws UsageError. */
export function chooseTemplates(
  { templates, others }: TemplateSurvey,
  pools: readonly Pick<PoolConfig, 'name'>[],
  names: readonly string[] | undefined,
): readonly Template[] {
  const unknown = names?.find((name) => !templates.some((template) => template.name === name));
  if (unknown !== undefined && others.includes(unknown))
    throw new UsageError(
      `template "${unknown}": its jobs have other tags than the pools ${pools.map(({ name }) => name).join(', ')}, so these cannot run them`,
    );
  if (unknown !== undefined)
    throw new UsageError(
      `no template "${unknown}"; the templates are ${templates.map(({ name }) => name).join(', ') || '(none)'}`,
    );
  return templates.filter(({ name }) => names === undefined || names.includes(name));
}
