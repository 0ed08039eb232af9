/** What `autoscaler image` prints: what is packed, what is not, what to do next, first builds and pulls. */

import { few, some } from '../../lambda/explain/format.ts';
import { type Column, foldCommand, plainTable, wrapLines } from '../shared/plain-table.ts';
import { shellLine } from '../shared/shell-words.ts';
import type { ImageResult } from './make-image.ts';
import type { Advice, PoolAdvice, PullOption } from './pulls.ts';

export function screen(result: ImageResult, width?: number): string {
  const shown = { ...result, templates: onOneLine(result.templates) };
  const parts = [
    packed(shown, width),
    notPacked(shown),
    checksums(shown, width),
    nextSteps(shown, width),
    firstBuilds(shown),
    pullScreen(shown.advice, width),
  ];
  return `${wrapLines(parts.filter((part) => part !== '').join('\n\n'), width)}\n`;
}

/** The name of a folder and the reason why a file is unreadable may look like lines of this text. */
function onOneLine(templates: ImageResult['templates']): ImageResult['templates'] {
  return {
    ...templates,
    withoutLockFile: templates.withoutLockFile.map(joined),
    unreadable: templates.unreadable.map(({ template, why }) => ({
      template: joined(template),
      why: joined(why),
    })),
    ofOnePlatform: templates.ofOnePlatform.map(joined),
  };
}

function packed(result: ImageResult, width?: number): string {
  const { out, image, platform, pools, packages } = result;
  if (out === undefined) return nothingPacked(result);
  const table = plainTable(
    ['provider', 'version', 'templates'].map((head) => ({ head, align: 'left' as const })),
    packages.map(({ address, version, templates }) => [address, version, joined(few(templates))]),
    width,
  );
  return `${out}: written, for ${some(pools.length, 'pool')} (${pools.join(', ')}): ${image} with ${some(packages.length, 'provider package')} for ${platform}. Their sizes are known once they are downloaded, when the image is built.\n\n${table}`;
}

const joined = (text: string): string => text.replaceAll(/\s+/g, ' ');

function nothingPacked({ templates }: ImageResult): string {
  return templates.unreadable.length > 0
    ? 'Nothing was written: no lock file could be read that names a provider. See below for the reasons'
    : 'Nothing was written: no template has a lock file that names a provider. Run "terraform init" in the folder of a template, and push the template with its .terraform.lock.hcl';
}

function notPacked({ templates }: ImageResult): string {
  const { withoutLockFile, unreadable, ofOtherPools } = templates;
  const lines = [
    ...(withoutLockFile.length === 0
      ? []
      : [
          `no lock file, so each build looks for the newest versions: ${withoutLockFile.join(', ')}. Run "terraform init" in the template's folder and push it with .terraform.lock.hcl`,
        ]),
    ...unreadable.map(({ template, why }) => `could not read ${template}: ${why}`),
    ...(ofOtherPools.length === 0 ? [] : [`templates of other pools: ${ofOtherPools.join(', ')}`]),
  ];
  return lines.length === 0 ? '' : ['Not packed:', ...lines.map((line) => `  - ${line}`)].join('\n');
}

/** A lock file does not say which platform a checksum is for. The build of the image finds out. */
function checksums({ platform, templates: { ofOnePlatform }, out }: ImageResult, width?: number): string {
  if (out === undefined || ofOnePlatform.length === 0) return '';
  return `Lock files with the content checksum (h1) of one platform at most: ${ofOnePlatform.join(', ')}
If that platform is not ${platform}, as after "terraform init" on a Mac, each build unpacks its providers again; without this image it even downloads them again. The build of the image names the templates that are concerned. For these, run in the template's folder, and push the template:
${foldCommand(LOCK, width)}`;
}

const LOCK = '  terraform providers lock -platform=linux_amd64 -platform=linux_arm64 -platform=darwin_arm64';

function nextSteps({ out, pools, overridden }: ImageResult, width?: number): string {
  if (out === undefined) return '';
  return [
    'Next:',
    // a path that begins with a dash would be an option
    foldCommand(`  ${shellLine(['sh', `${out.startsWith('-') ? './' : ''}${out}/build.sh`])}`, width),
    `It builds the image and pushes it to ECR. You need docker with buildx, and aws. At its end it prints the value of "image" for ${pools.length === 1 ? 'pool' : 'pools'} ${pools.join(', ')}. Set it and deploy. docs/upgrade.md has the details.`,
    ...(overridden.length === 0
      ? []
      : [
          `! ${overridden.join(', ')}: the setting environment has TF_CLI_CONFIG_FILE, which hides the providers of the image. Remove it, or add provider_installation of ${out}/terraform.rc to your file`,
        ]),
  ].join('\n');
}

function firstBuilds({ firstBuilds: found }: ImageResult): string {
  if (found.kind === 'none') return `No figure for first builds: ${found.why}`;
  const { tasks, firstSeconds, laterSeconds } = found;
  return `terraform init takes ${firstSeconds} s in the first build of a task, and ${laterSeconds} s in the next build of the same template version there (medians of ${some(tasks, 'task')}). The image saves at most the difference.`;
}

const HEADS = ['tasks', 'pull p50', 'pull p95', 'start p50', 'pull %', 'zstd', 'SOCI'];

function pullScreen(advice: Advice, width?: number): string {
  if (advice.kind === 'none') return `No advice on image pulls: ${advice.why}`;
  const columns: readonly Column[] = [
    { head: 'pool', align: 'left' },
    ...HEADS.map((head) => ({ head, align: 'right' as const })),
  ];
  const outside = advice.pools.filter((pool) => hasOption(pool, 'pull-through-cache'));
  return [
    'Image pulls of the tasks that ECS lists, with their present image:',
    plainTable(columns, advice.pools.map(rowOf), width),
    ...fewTasks(advice.pools),
    ...(advice.unmeasured.length === 0 ? [] : [`No tasks to measure: ${advice.unmeasured.join(', ')}`]),
    '',
    MEANING,
    ...(outside.length === 0 ? [] : [`${PULL_THROUGH} ${outside.map(({ pool }) => pool).join(', ')}.`]),
  ].join('\n');
}

/** With fewer, the 95th percentile is the greatest value. */
const ENOUGH_TASKS = 20;

function fewTasks(pools: readonly PoolAdvice[]): readonly string[] {
  const those = pools.filter(({ tasks }) => tasks < ENOUGH_TASKS).map(({ pool }) => pool);
  if (those.length === 0) return [];
  return [
    `Fewer than ${ENOUGH_TASKS} tasks, so the figures are rough, and pull p95 is the slowest pull: ${those.join(', ')}`,
  ];
}

function rowOf(advice: PoolAdvice): readonly (string | number)[] {
  const { pool, tasks, pullP50Seconds, pullP95Seconds, startP50Seconds, share } = advice;
  return [
    ...[pool, tasks, `${pullP50Seconds} s`, `${pullP95Seconds} s`, `${startP50Seconds} s`],
    ...[`${Math.round(share * 100)} %`, atMost(advice, 'zstd'), atMost(advice, 'soci')],
  ];
}

function atMost({ options }: PoolAdvice, option: PullOption['option']): string {
  const seconds = options.find((each) => each.option === option)?.atMostSeconds;
  return seconds === undefined ? '' : `<= ${seconds} s`;
}

function hasOption({ options }: PoolAdvice, option: PullOption['option']): boolean {
  return options.some((each) => each.option === option);
}

const MEANING = `The last two columns are estimates of the most that each could save of a median start. Use one of them.
  zstd: AWS measured up to 27 % of the start time with its images. It shrinks the layers of the base image when you build them yourself, and hardly the zip files of providers.
  SOCI: Fargate loads files when they are read, so a build loads only the providers that it uses. It needs an index beside the image, and gains with images of more than 250 MiB in ECR. Not together with zstd.
The providers make the image larger: run this again after the deployment to see what the pulls take then.`;

const PULL_THROUGH = `Their image comes from outside ECR. A pull-through cache, or an image in your own ECR, avoids the limits and outages of the other registry. How many seconds that saves is not known. Pools:`;
