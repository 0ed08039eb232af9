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

Coder's [validated architectures](https://coder.com/docs/admin/infrastructure/validated-architectures)
give, for a number of users, the builds that run at once and the sizes of coderd and its database. Each
architecture has a file here. Copy it to \`autoscaler.yaml\`. The table shows dollars a month in
us-east-1, with the network:`;

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

const HOW_TO_READ = `- **quiet**: no builds. You pay for \`min\`, for schedules, and for what costs money even without use.
- **usual**: on average ${percent(USUAL.share)} of \`max\` is busy (of \`maxTasks\`, if that is less), from Monday to
  Friday, 10 hours a day. The generated trace of 1,000 users ([traces.md](traces.md)) has as many builds.
  The price includes the daemons that the autoscaler keeps free at $0.10 for each minute that a person
  waits (\`waiting\`).
- **busy**: the same with ${percent(BUSY.share)} of \`max\`: people build all day.
- **fixed fleet**: the provisioners of the architecture around the clock, as the same Fargate tasks.
  Network, logs and the function are not included.

**Database.** Builds load the database. The column has the size that Coder tested with so many builds at
once. Make the database larger before you raise \`maxTasks\`. Watch its CPU while \`PendingJobs\` is high.
Provisioners do not connect to the database; coderd does.

**Built-in provisioners.** Set \`CODER_PROVISIONER_DAEMONS=0\` on coderd. The default is three for each
replica. They use coderd's CPU and take untagged jobs. The autoscaler counts them as supply while they
run.

**Quotas.** A new AWS account has 6 vCPUs of Fargate on demand, and 6 of Fargate Spot. Before the first
deployment, request what \`maxTasks\` can use. Each service starts with one task, and becomes stable only
if Fargate has room for it.

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
  const [least, most] = [Math.min(...each), Math.max(...each)];
  return [
    `The autoscaler itself, without tasks and NAT gateways, costs ${dollars(least)} to ${dollars(most)} in a quiet month. You pay`,
    'only that with `min: 0` in a VPC that you already have.',
  ].join('\n');
}

const ASSUMPTIONS = `\`aws.network.endpoints\` adds ${dollars(ENDPOINTS_MONTH)} a month. It gives privacy rather than savings: image layers from ECR
always use a free endpoint. \`aws.metrics.perPool\` adds $0.90 a pool.

## Assumptions

Prices are those of us-east-1 in 2026, on demand, without free tiers and discounts
(\`infra/aws-prices.ts\`, \`lambda/decision/settings/prices.ts\`). Other Regions cost up to a quarter more.
The price of Spot changes. A month has 730 hours.

**Free daemons.** A build takes ${BUILDS.minutes} minute, and the forecast does not know ${percent(BUILDS.unforeseen)} of the builds. The estimate
makes up three days of such builds and lets the autoscaler's own code learn how many daemons to keep free
(\`infra/expected-stock.ts\`). The time
to start a task is \`startTime\`, \`90s\` by default. The autoscaler itself knows the real builds and the
real start times.

**Network.** A task downloads ${ASSUMED.gbPerBusyTaskHour} GB an hour through the NAT gateway while it builds: images, providers,
modules. coderd and the registry are outside the VPC.

**Function.** AWS bills ${ASSUMED.lookS} s for a look. There is one a minute, and one every ${ASSUMED.autoMs / 1000} s in working hours, each
started by a message. Lambda waits for messages with ${ASSUMED.pollsPerMinute} requests a minute.

**Not included:** what templates create, traffic between zones and out of AWS, storage in ECR, log
queries.
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
