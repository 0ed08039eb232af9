/** The apps, and the versions that each one is tried with. */
import { OLDEST_PEERS } from '../../../packaging/definitions.ts';

export type PackedName = 'construct' | 'cli';

export type Trial = {
  readonly name: string;
  /** Folder of the checkout that is copied into the app. */
  readonly app: string;
  /** The app begins as what `cdk init` writes. */
  readonly isStock: boolean;
  readonly installs: readonly PackedName[];
  readonly node: string;
  /** Installed before the package, as `name@version`. */
  readonly packages: readonly string[];
  readonly commands: readonly string[];
  /** The most that the packages and their dependencies may add to node_modules. */
  readonly mostMegabytes: number;
};

const OLDEST = Object.entries(OLDEST_PEERS).map(([name, version]) => `${name}@${version}`);
const NEWEST = ['aws-cdk-lib@2', 'constructs@10'];
/** The oldest Node that package.json allows: undici sets it. */
const NODE_22 = '22.19.0';
const NODE_24 = '24';

const CONSTRUCT_MEGABYTES = 15;
/** Half of it are the clients of AWS that `setup` and the looks need. */
const CLI_MEGABYTES = 75;

const construct = { installs: ['construct'], isStock: false, mostMegabytes: CONSTRUCT_MEGABYTES } as const;
const stock = {
  ...construct,
  app: 'test/packages/apps/stock',
  isStock: true,
  commands: ['npx tsc', 'npx cdk synth --quiet'],
} as const;
const javascript = { ...construct, app: 'test/packages/apps/javascript', commands: ['node app.js'] } as const;
const commonjs = { ...construct, app: 'test/packages/apps/commonjs', commands: ['node app.js'] } as const;
const EXAMPLES = ['own-network', 'existing-network', 'two-organizations', 'spot-for-prebuilds'];
const examples = {
  ...construct,
  app: 'examples',
  isStock: true,
  commands: ['npx tsc', ...EXAMPLES.map((folder) => `cd ${folder} && npx cdk synth --quiet`)],
} as const;
const cli = {
  app: 'test/packages/apps/cli',
  isStock: false,
  installs: ['cli'],
  mostMegabytes: CLI_MEGABYTES,
  packages: [],
  commands: [
    'npx autoscaler --version',
    // where nothing is known yet
    "mkdir empty && cd empty && npx autoscaler setup --print | grep 'npx autoscaler setup --draft --url'",
    'npx autoscaler validate',
    'npx autoscaler plan --snapshot snapshot.json',
    'npx autoscaler backtest --scenario small-team --days 1 --out report.html',
  ],
} as const;
const synth = {
  app: 'test/packages/apps/synth',
  isStock: false,
  installs: ['construct', 'cli'],
  mostMegabytes: CONSTRUCT_MEGABYTES + CLI_MEGABYTES,
  commands: ['npx autoscaler synth', 'node check.js'],
} as const;

/** The first one is what `.ci/run` tries. */
export const TRIALS: readonly Trial[] = [
  { ...stock, name: 'cdk init, Node 24', node: NODE_24, packages: [] },
  {
    ...stock,
    name: 'cdk init, Node 22.19, oldest aws-cdk-lib, TypeScript 5.8',
    node: NODE_22,
    packages: [...OLDEST, 'typescript@5.8'],
  },
  { ...javascript, name: 'JavaScript, Node 24', node: NODE_24, packages: NEWEST },
  {
    ...javascript,
    name: 'JavaScript, Node 22.19, oldest aws-cdk-lib',
    node: NODE_22,
    packages: OLDEST,
  },
  { ...commonjs, name: 'CommonJS, Node 24, oldest aws-cdk-lib', node: NODE_24, packages: OLDEST },
  { ...commonjs, name: 'CommonJS, Node 22.19', node: NODE_22, packages: NEWEST },
  { ...cli, name: 'CLI, Node 24', node: NODE_24 },
  { ...cli, name: 'CLI, Node 22.19', node: NODE_22 },
  { ...synth, name: 'template without CDK, Node 24', node: NODE_24, packages: NEWEST },
  {
    ...synth,
    name: 'template without CDK, Node 22.19, oldest aws-cdk-lib',
    node: NODE_22,
    packages: OLDEST,
  },
  { ...examples, name: 'apps of examples/, Node 24', node: NODE_24, packages: [] },
];
