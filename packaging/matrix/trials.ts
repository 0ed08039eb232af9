/** The apps, and the versions that each one is tried with. */
import { OLDEST_PEERS } from '../definitions.ts';

export type Trial = {
  readonly name: string;
  /** Folder in `test/packages/apps/`. `stock` is laid over what `cdk init` writes. */
  readonly app: 'stock' | 'javascript' | 'commonjs' | 'cli';
  readonly installs: 'construct' | 'cli';
  readonly node: string;
  /** Installed before the package, as `name@version`. */
  readonly packages: readonly string[];
  readonly commands: readonly string[];
  /** The most that the package and its dependencies may add to node_modules. */
  readonly mostMegabytes: number;
};

const OLDEST = Object.entries(OLDEST_PEERS).map(([name, version]) => `${name}@${version}`);
const NEWEST = ['aws-cdk-lib@2', 'constructs@10'];
const NODE_22 = '22.12.0';
const NODE_24 = '24';

const construct = { installs: 'construct', mostMegabytes: 15 } as const;
const stock = { ...construct, app: 'stock', commands: ['npx tsc', 'npx cdk synth --quiet'] } as const;
const javascript = { ...construct, app: 'javascript', commands: ['node app.js'] } as const;
const commonjs = { ...construct, app: 'commonjs', commands: ['node app.js'] } as const;
const cli = {
  app: 'cli',
  installs: 'cli',
  mostMegabytes: 60,
  packages: [],
  commands: [
    'npx autoscaler --version',
    'npx autoscaler validate',
    'npx autoscaler plan --snapshot snapshot.json',
    'npx autoscaler backtest --scenario small-team --days 1 --out report.html',
  ],
} as const;

/** The first one is what `.ci/run` tries. */
export const TRIALS: readonly Trial[] = [
  { ...stock, name: 'cdk init, Node 24', node: NODE_24, packages: [] },
  {
    ...stock,
    name: 'cdk init, Node 22.12, oldest aws-cdk-lib, TypeScript 5.8',
    node: NODE_22,
    packages: [...OLDEST, 'typescript@5.8'],
  },
  { ...javascript, name: 'JavaScript, Node 24', node: NODE_24, packages: NEWEST },
  {
    ...javascript,
    name: 'JavaScript, Node 22.12, oldest aws-cdk-lib',
    node: NODE_22,
    packages: OLDEST,
  },
  { ...commonjs, name: 'CommonJS, Node 24, oldest aws-cdk-lib', node: NODE_24, packages: OLDEST },
  { ...commonjs, name: 'CommonJS, Node 22.12', node: NODE_22, packages: NEWEST },
  { ...cli, name: 'CLI, Node 24', node: NODE_24 },
  // the oldest that undici supports
  { ...cli, name: 'CLI, Node 22.19', node: '22.19.0' },
];
