/** Tables of docs/cost.md: Coder's validated sizes as files of examples/, and what they cost. */

import { loadDeployment } from '../lambda/config/load.ts';
import type { Deployment } from '../lambda/config/rules/deployment.ts';
import {
  ASSUMED,
  BUSY,
  costOf,
  costOfEvents,
  ENDPOINTS_MONTH,
  ownDollars,
  QUIET,
  totalOf,
} from './cost/cost.ts';
import { BUILDS } from './cost/task-hours.ts';

type Size = {
  readonly file: string;
  readonly users: string;
  /** At once; as many provisioners of 1 vCPU and 1 GB has the architecture. */
  readonly builds: number;
  readonly coderd: string;
  readonly database: string;
};

/** coder/coder, docs/admin/infrastructure/validated-architectures/{1k,2k,3k,10k}-users.md, as of 2026. */
export const SIZES: readonly Size[] = [
  { name: '1k', users: '1,000', builds: 60, coderd: '3 x 2 vCPU, 8 GB', database: '8 vCPU, 30 GB' },
  { name: '2k', users: '2,000', builds: 120, coderd: '3 x 4 vCPU, 12 GB', database: '16 vCPU, 60 GB' },
  { name: '3k', users: '3,000', builds: 180, coderd: '4 x 4 vCPU, 12 GB', database: '32 vCPU, 120 GB' },
  { name: '10k', users: '10,000', builds: 600, coderd: '10 x 4 vCPU, 12 GB', database: '64 vCPU, 240 GB' },
].map(({ name, ...size }) => ({ file: `examples/${name}-users.yaml`, ...size }));

type Sized = Size & { readonly deployment: Deployment };

/** The table of sizes in docs/cost.md. */
export function renderSizes(): string {
  return sizesTable(sized());
}

/** What the smallest costs line by line, in docs/cost.md. */
export function renderCostLines(): string {
  const sizes = sized();
  return [...sizes.slice(0, 1).map(linesTable), autoscalerAlone(sizes), eventsOf(sizes), ASSUMPTIONS].join(
    '\n\n',
  );
}

function sized(): readonly Sized[] {
  return SIZES.map((size) => ({ ...size, deployment: loadDeployment(size.file).config }));
}

function sizesTable(sizes: readonly Sized[]): string {
  const rows = sizes.map(({ file, users, builds, coderd, database, deployment }) => [
    `[${users}](../${file})`,
    String(builds),
    coderd,
    database,
    dollars(totalOf(costOf(deployment, QUIET))),
    dollars(totalOf(costOf(deployment, BUSY))),
  ]);
  return table(['users', 'builds at once = `maxTasks`', 'coderd', 'database', 'quiet', 'busy'], rows);
}

function linesTable({ deployment, users }: Sized): string {
  const loads = [QUIET, BUSY].map((load) => costOf(deployment, load));
  const rows = (loads[0] ?? []).flatMap(({ what }, line) => {
    const amounts = loads.map((lines) => lines[line]?.dollars ?? 0);
    return amounts.some((amount) => amount > 0) ? [[what, ...amounts.map(cents)]] : [];
  });
  const total = ['**all**', ...loads.map((lines) => cents(totalOf(lines)))];
  const events = [QUIET, BUSY].map((load) => costOfEvents(deployment, load));
  const more = [
    ['with GuardDuty, besides', ...events.map(({ guardDuty }) => cents(guardDuty))],
    ['with a second CloudTrail trail, besides', ...events.map(({ secondTrail }) => cents(secondTrail))],
  ];
  return table([`${users} users`, 'quiet', 'busy'], [...rows, total, ...more]);
}

function eventsOf([size]: readonly Sized[]): string {
  const [quiet = 0, busy = 0] = [QUIET, BUSY].map((load) =>
    size === undefined ? 0 : costOfEvents(size.deployment, load).calls / 1e6,
  );
  return [
    `CloudTrail makes a management event of each call to AWS: ${quiet.toFixed(1)} million a month in a quiet month, ${busy.toFixed(1)} in a busy one.`,
    'The first trail is free, but GuardDuty and each further trail that records management events bill them. In a cluster',
    'that you name (`aws.cluster`) a look lists the tasks of each pool, which is two calls a pool instead of two for all.',
  ].join('\n');
}

function autoscalerAlone(sizes: readonly Sized[]): string {
  const [least = 0, most = 0] = [sizes.at(0), sizes.at(-1)].map((size) =>
    size === undefined ? 0 : ownDollars(size.deployment, QUIET),
  );
  return [
    `The autoscaler itself, without tasks and NAT gateways, costs $${cents(least)} in a quiet month with one pool, and`,
    `$${cents(most)} with the four of 10,000 users: each key is a secret for $0.40. You pay only that with \`min: 0\` in a VPC`,
    'that you already have.',
  ].join('\n');
}

const ASSUMPTIONS = `\`aws.network.endpoints\` adds ${dollars(ENDPOINTS_MONTH)} a month, for privacy: image layers from ECR always use a free endpoint.
\`aws.metrics.perPool\` adds $0.90 a pool, a task that \`min\` keeps $1.50 for metrics. AWS bills a
metric for the hours in which it gets a value, so those of daemons and waits cost nothing while there are none.

**Assumed:** prices of us-east-1 in 2026, on demand, without free tiers and discounts; other Regions cost up to a quarter
more. A month has 730 hours. *Busy* keeps ${percent(BUSY.share)} of \`max\` busy, from Monday to Friday, 10 hours a day. A build
takes ${BUILDS.minutes} minute, and the forecast does not know ${percent(BUILDS.unforeseen)} of them. A task downloads ${ASSUMED.gbPerBusyTaskHour} GB an hour through the NAT gateway
while it builds. AWS bills ${ASSUMED.lookS} s for a look; there is one a minute, and one every ${ASSUMED.autoMs / 1000} s in working hours.`;

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function dollars(amount: number): string {
  return `$${Math.round(amount).toLocaleString('en-US')}`;
}

function cents(amount: number): string {
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
