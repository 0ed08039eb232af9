/** What each published package contains. The versions of its dependencies are in package.json. */
import { buildHandler, HANDLER_NAMES, packFile } from '../infra/constructs/handler-files.ts';
import { bundleModule } from './bundle.ts';

const ECHARTS_MODULE = 'lab/what-if/report/charts/echarts.js';
const ZIP_MODULE = 'infra/plain/zip-folder.js';

export type GeneratedFile = { readonly path: string; readonly contents: string | Uint8Array };

/** Generated files, and the modules that esbuild bundled into them. */
type Prebuilt = {
  readonly files: readonly GeneratedFile[];
  /** Paths relative to the project. */
  readonly inputs: readonly string[];
};

export type PackageDefinition = {
  /** The folder in the output directory. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  readonly keywords: readonly string[];
  /** These modules are compiled, with all modules that they import. */
  readonly entries: readonly string[];
  readonly hasTypes: boolean;
  /** Files and folders that are copied as they are, beside those of every package. */
  readonly copied: readonly string[];
  /** Version ranges of packages that the user's app brings. */
  readonly peers: Readonly<Record<string, string>>;
  /** `exports`, `bin`, `peerDependenciesMeta` and the like. */
  readonly entryFields: Readonly<Record<string, unknown>>;
  readonly prebuild: (projectDir: string) => Prebuilt;
};

/** The oldest versions that `.ci/packages` tests. */
export const OLDEST_PEERS = { 'aws-cdk-lib': '2.230.0', constructs: '10.4.2' };

const KEYWORDS = ['coder', 'coder-provisioner', 'autoscaler', 'aws', 'ecs', 'fargate'];

export const CONSTRUCT: PackageDefinition = {
  folder: 'construct',
  name: 'coder-provisioner-autoscaler',
  description: "CDK construct that autoscales Coder's external provisioner daemons on ECS Fargate",
  keywords: [...KEYWORDS, 'aws-cdk', 'cdk', 'construct'],
  entries: ['infra/index.ts', 'infra/plain/synth-text.ts'],
  hasTypes: true,
  copied: ['guard', 'autoscaler.example.yaml', 'autoscaler.schema.json'],
  peers: Object.fromEntries(Object.entries(OLDEST_PEERS).map(([name, version]) => [name, `^${version}`])),
  entryFields: {
    // older resolvers do not read `exports`
    main: './infra/index.js',
    types: './infra/index.d.ts',
    exports: {
      '.': { types: './infra/index.d.ts', default: './infra/index.js' },
      // for `autoscaler synth` of the command line
      './plain': { types: './infra/plain/synth-text.d.ts', default: './infra/plain/synth-text.js' },
      './autoscaler.schema.json': './autoscaler.schema.json',
      './package.json': './package.json',
    },
  },
  prebuild: (projectDir) => {
    const handlers = HANDLER_NAMES.map((handler) => ({ handler, ...buildHandler(handler) }));
    const prebuilt = handlers.flatMap(({ handler, files }) =>
      files.map(packFile).map(({ name, contents }) => ({ path: `prebuilt/${handler}/${name}`, contents })),
    );
    const zip = bundleModule(ZIP_MODULE, projectDir);
    return {
      files: [...prebuilt, { path: ZIP_MODULE, contents: zip.code }],
      inputs: [...handlers.flatMap(({ inputs }) => inputs), ...zip.inputs],
    };
  },
};

export const CLI: PackageDefinition = {
  folder: 'cli',
  name: 'coder-provisioner-autoscaler-cli',
  description: "Command line of the autoscaler for Coder's external provisioner daemons on ECS Fargate",
  keywords: [...KEYWORDS, 'cli', 'backtest'],
  entries: ['cli/main.ts'],
  hasTypes: false,
  copied: [
    'guard',
    'autoscaler.example.yaml',
    'autoscaler.schema.json',
    'examples/*.yaml',
    'examples/compare',
    'examples/dashboards',
    'examples/plan',
    'examples/terraform',
    'lab/what-if/report/style.css',
    'lab/what-if/scenarios/*.yaml',
    'cli/node-floor.mjs',
    'cli/watch/page.html',
    'cli/doctor/answers/recorded',
    // messages refer to these pages
    'docs/*.md',
  ],
  // `autoscaler synth` imports it; 0.1.0 is the first version with `./plain`
  peers: { [CONSTRUCT.name]: '>=0.1.0' },
  entryFields: {
    bin: { autoscaler: './cli/main.js' },
    peerDependenciesMeta: { [CONSTRUCT.name]: { optional: true } },
  },
  prebuild: (projectDir) => {
    const echarts = bundleModule(ECHARTS_MODULE, projectDir);
    return { files: [{ path: ECHARTS_MODULE, contents: echarts.code }], inputs: echarts.inputs };
  },
};
