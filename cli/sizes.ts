/**
 * docs/sizes.md: the sizes of Coder's validated architecture as files of examples/, and what they
 * cost.
 */

import {
  ASSUMED,
  BUILDS,
  BUSY,
  costOf,
  costOfStaticFleet,
  ENDPOINTS_MONTH,
  QUIET,
  totalOf,
  USUAL,
} from '../infra/cost.ts';
import { loadDeployment } from '../lambda/config/load.ts';
import type { Deployment } from '../lambda/config/rules/deployment.ts';

type Size = {
  readonly file: string;
  readonly users: string;
  /** At once; as many provisioners of 1 vCPU and 1 GB has the architecture. */
  readonly builds: number;
  readonly coderd: string;
  readonly database: string;
};

/**
 * coder/coder, docs/admin/infrastructure/validated-architectures/{1k,2k,3k,10k}-users.md, as of
 * 2026.
 */
export const SIZES: readonly Size[] = [
  {
    file: 'examples/1k-users.yaml',
    users: '1,000',
    builds: 60,
    coderd: '3 x 2 vCPU, 8 GB',
    database: '8 vCPU, 30 GB',
  },
  {
    file: 'examples/2k-users.yaml',
    users: '2,000',
    builds: 120,
    coderd: '3 x 4 vCPU, 12 GB',
    database: '16 vCPU, 60 GB',
  },
  {
    file: 'examples/3k-users.yaml',
    users: '3,000',
    builds: 180,
    coderd: '4 x 4 vCPU, 12 GB',
    database: '32 vCPU, 120 GB',
  },
  {
    file: 'examples/10k-users.yaml',
    users: '10,000',
    builds: 600,
    coderd: '10 x 4 vCPU, 12 GB',
    database: '64 vCPU, 240 GB',
  },
];

type Sized = Size & { readonly deployment: Deployment };

/** The text of docs/sizes.md. */
export function renderSizes(): string {
  const sizes = SIZES.map((size) => ({ ...size, deployment: loadDeployment(size.file).config }));
  return [
    INTRODUCTION,
    sizesTable(sizes),
    HOW_TO_READ,
    linesTable(sizes),
    autoscalerAlone(sizes),
    ASSUMPTIONS,
  ].join('\n\n');
}

const INTRODUCTION = `<!-- made by npm run docs -->
# Sizes and what they cost

Coder's [validated architectures](https://coder.com/docs/admin/infrastructure/validated-architectures) say how many builds run at once
for so many users, and what coderd and its database need for that. Each has its file here, to be copied to \`autoscaler.yaml\`. Dollars a
month in us-east-1, network included:`;

function sizesTable(sizes: readonly Sized[]): string {
  const rows = sizes.map(({ file, users, builds, coderd, database, deployment }) => [
    `[${users}](../${file})`,
    String(builds),
    coderd,
    database,
    dollars(totalOf(costOf(deployment, QUIET))),
    dollars(totalOf(costOf(deployment, USUAL))),
    dollars(totalOf(costOf(deployment, BUSY))),
    dollars(staticFleet(deployment, builds)),
  ]);
  return table(
    ['users', 'builds at once = `maxTasks`', 'coderd', 'database', 'quiet', 'usual', 'busy', 'fixed fleet'],
    rows,
  );
}

function staticFleet({ pools: [pool] }: Deployment, builds: number): number {
  return pool === undefined ? 0 : costOfStaticFleet(pool, builds);
}

const HOW_TO_READ = `- **quiet**: nobody builds. Left are \`min\`, schedules, and what is there whether used or not.
- **usual**: on average ${percent(USUAL.share)} of \`max\` (of \`maxTasks\`, where that is less) builds from Monday to Friday, 10 hours a day. The made-up trace of 1,000 users
  (docs/traces.md) builds as much. The price includes the daemons that the autoscaler keeps free at $0.10 for each minute that a person waits (\`waiting\`).
- **busy**: the same with ${percent(BUSY.share)} of \`max\`: people build all day long.
- **fixed fleet**: the architecture's provisioners around the clock as the same Fargate tasks, without network, logs and the rest.

**Database.** Builds are what loads it; the column is what Coder has tested with so many at once. Raise \`maxTasks\` only after it has grown, and
watch its CPU while \`PendingJobs\` is high. Provisioners open no connection to it; coderd does.

**Built-in provisioners.** Set \`CODER_PROVISIONER_DAEMONS=0\` on coderd, three a replica being the default: they share coderd's CPU, and untagged jobs
would go to them. The autoscaler counts them as supply as long as they are there.

**Quotas.** New AWS accounts have 6 vCPUs of Fargate, on demand and on Spot each. Ask for as many as \`maxTasks\` can use before the first deployment: each service begins with a task, and none becomes stable without room for it.

## Line by line

Quiet / usual / busy, in dollars a month:`;

function linesTable(sizes: readonly Sized[]): string {
  const costs = sizes.map(({ deployment }) => ({
    loads: [QUIET, USUAL, BUSY].map((load) => costOf(deployment, load)),
  }));
  const names = costs[0]?.loads[0]?.map(({ what }) => what) ?? [];
  const cell = (amounts: readonly number[]) => amounts.map(cents).join(' / ');
  const rows = names.map((name, line) => [
    name,
    ...costs.map(({ loads }) => cell(loads.map((lines) => lines[line]?.dollars ?? 0))),
  ]);
  const total = ['**all**', ...costs.map(({ loads }) => cell(loads.map(totalOf)))];
  return table(['', ...sizes.map(({ users }) => `${users} users`)], [...rows, total]);
}

function autoscalerAlone(sizes: readonly Sized[]): string {
  const each = sizes.map(({ deployment }) =>
    totalOf(costOf(deployment, QUIET).filter(({ what }) => !/tasks|NAT/.test(what))),
  );
  return `The autoscaler itself, without tasks and NAT gateways, is ${dollars(Math.min(...each))} to ${dollars(Math.max(...each))} of a quiet month: what is left with \`min: 0\` in a VPC that you have already.`;
}

const ASSUMPTIONS = `\`aws.network.endpoints\` adds ${dollars(ENDPOINTS_MONTH)} a month, which buys privacy rather than savings: image layers from ECR come through a
free endpoint either way. \`aws.metrics.perPool\` adds $0.90 a pool.

## What is assumed

Prices are those of us-east-1 in 2026 (\`infra/aws-prices.ts\`, \`lambda/decision/settings/prices.ts\`), on demand, without free tiers and discounts; other regions are up to a quarter
dearer, and Spot's price moves. A month has 730 hours.

Free daemons: a build takes ${BUILDS.minutes} minute, and no forecast tells ${percent(BUILDS.unforeseen)} of the builds. A pool keeps one more daemon free while the chance that it is needed
before a new task is up, times the price of waiting, is above the price of a task (\`infra/expected-stock.ts\`). The time to start a task is \`startTime\`, \`90s\` unless
you write another. The autoscaler itself knows more: the real builds, and how long a start really takes.

A task brings in ${ASSUMED.gbPerBusyTaskHour} GB an hour while it builds (image, providers, modules) through the NAT gateway, where
coderd and registry are outside. A quiet look is billed for ${ASSUMED.quietLookS} s, once a minute; in working hours the function looks again and again and is billed for ${ASSUMED.busyMinuteS} s
of each minute. Not in it: what templates create, traffic between zones and out of AWS, ECR's storage, log queries.
`;

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
