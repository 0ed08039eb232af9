/** Causes in coderd, in its token, and on the way to it. */
import { DAY_MS, MINUTE_MS } from '../../../../../../lambda/decision/model/units.ts';
import { withoutOrganization, withoutRouteToCoderd } from '../closed-routes.ts';
import { CPU, type Night } from '../night.ts';
import type { Cause } from './cause.ts';

const newToken = ({ world }: Night, token: Parameters<Night['world']['coderd']['addToken']>[0]): void => {
  world.secrets.put(world.tokenSecretName, world.coderd.addToken(token));
};
const goodToken = (night: Night): void => newToken(night, { canRead: 'all' });

const revoke = ({ world }: Night): void =>
  world.coderd.tokens.revoke(world.secrets.find(world.tokenSecretName)?.value ?? '');

const setStatus = ({ world: { coderd } }: Night, status: 'active' | 'suspended'): void => {
  for (const user of coderd.users()) if (user.username === 'autoscaler') coderd.setUserStatus(user, status);
};

/** Refusals of coderd need the real way to it. */
const OVER_HTTP = { overHttp: true };

const EVERYTHING = ['buildinfo', 'organizations', 'provisionerjobs', 'provisionerdaemons', 'workspaces'];
const takeDown = ({ world }: Night): void => {
  for (const list of EVERYTHING) world.coderd.failing.add(list);
};
const bringUp = ({ world }: Night): void => world.coderd.failing.clear();

function failingList(of: 'jobs' | 'daemons'): Cause {
  return {
    cause: `the list of ${of} fails`,
    begin: ({ world }) => world.coderd.failing.add(`provisioner${of}`),
    mend: bringUp,
    act: 'mend coderd',
    words: new RegExp(`listing provisioner ${of}`),
    rings: ['failing-ticks', 'no-tick'],
  };
}

export const CODERD: readonly Cause[] = [
  {
    cause: 'coderd is down',
    begin: (night) => {
      night.submit(6, 10);
      takeDown(night);
    },
    mend: bringUp,
    act: 'start coderd',
    words: /coderd answered 500/,
    rings: ['failing-ticks', 'no-tick', 'job-waits'],
  },
  {
    cause: 'coderd is down in each third minute',
    begin: (night) =>
      night.always((minute) => {
        bringUp(night);
        if (minute % 3 === 0) takeDown(night);
      }),
    mend: (night) => {
      night.always(() => {});
      bringUp(night);
    },
    act: 'mend coderd',
    words: /coderd answered 500/,
    rings: ['failing-ticks'],
  },
  {
    cause: "the function's route to coderd is closed",
    begin: (night) => {
      night.route = withoutRouteToCoderd;
    },
    mend: (night) => night.openRoutes(),
    act: 'open the route',
    words: /the function says: .*no answer from coderd|The function looks from the subnets/,
    rings: ['failing-ticks', 'no-tick'],
  },
  {
    cause: 'the token was revoked',
    options: OVER_HTTP,
    begin: revoke,
    mend: goodToken,
    act: 'store a new token',
    words: /coderd refuses the token/,
    rings: ['failing-ticks', 'no-tick'],
  },
  {
    cause: "the token's user was suspended",
    options: OVER_HTTP,
    prepare: (night) =>
      newToken(night, { canRead: 'all', user: night.world.coderd.addUser({ username: 'autoscaler' }) }),
    begin: (night) => setStatus(night, 'suspended'),
    mend: (night) => setStatus(night, 'active'),
    act: 'activate the user',
    words: /suspended/,
    rings: ['failing-ticks', 'no-tick'],
  },
  {
    cause: "the token's user lost its role in the organization",
    options: OVER_HTTP,
    begin: (night) => {
      revoke(night);
      newToken(night, { canRead: [] });
    },
    mend: (night) => {
      revoke(night);
      goodToken(night);
    },
    act: 'give the role back',
    words: /needs the organization template admin role/,
    rings: ['failing-ticks', 'no-tick'],
  },
  {
    cause: 'the token expires in 14 days',
    options: OVER_HTTP,
    prepare: (night) => {
      night.world.coderd.tokens.disableExpiryRefresh();
      newToken(night, { canRead: 'all', lifetimeMs: 14 * DAY_MS + 30 * MINUTE_MS });
    },
    before: 20,
    begin: () => {},
    mend: (night) => {
      revoke(night);
      goodToken(night);
    },
    act: 'store a new token',
    words: /expires at/,
    rings: ['token-expires'],
  },
  {
    cause: 'the license lacks external provisioners',
    begin: ({ world }) => {
      world.coderd.licence = 'not_entitled';
    },
    mend: ({ world }) => {
      world.coderd.licence = 'entitled';
    },
    act: 'renew the license',
    words: /licen[cs]e/,
    rings: ['license-ends', 'job-waits'],
  },
  failingList('jobs'),
  failingList('daemons'),
  {
    cause: 'coderd writes no heartbeats',
    pools: [{ ...CPU, min: 3 }],
    begin: ({ world }) => {
      world.coderd.heartbeatAgeMs = () => undefined;
    },
    mend: ({ world }) => {
      world.coderd.heartbeatAgeMs = () => 0;
    },
    act: 'mend coderd',
    words: /heartbeats/,
    rings: ['sight-lost'],
  },
  {
    cause: "the clock of coderd's host is ten minutes ahead",
    begin: ({ world }) => {
      world.coderd.dateAheadMs = () => 10 * MINUTE_MS;
    },
    mend: ({ world }) => {
      world.coderd.dateAheadMs = () => 0;
    },
    act: 'correct the clock',
    words: /clock/,
    rings: ['sight-lost'],
  },
  {
    cause: 'an organization was deleted',
    pools: [CPU, { ...CPU, name: 'gone', organization: 'gone' }],
    begin: (night) => {
      night.route = (ports) => withoutOrganization(ports, 'gone');
    },
    mend: (night) => night.openRoutes(),
    act: 'remove the pool, deploy',
    words: /organization "gone"/,
    rings: ['failing-ticks', 'sight-lost'],
  },
  {
    cause: 'no pool has the tags of a template',
    begin: (night) => night.submit(2, 1, { gpu: 'a10' }),
    mend: (night) => night.cancelWaiting(),
    act: 'cancel the jobs, correct the tags',
    words: /lacks gpu=a10/,
    rings: ['unserved-jobs'],
    lasts: 20,
  },
  {
    cause: 'a robot starts 170 workspaces at once',
    begin: (night) => night.submit(170, 5),
    mend: (night) => night.cancelWaiting(),
    act: 'cancel the jobs',
    words: /max 4 is reached/,
    rings: ['job-waits', 'pool-at-max'],
  },
  {
    cause: 'builds hang and fill the pool',
    begin: (night) => night.submit(4, 600),
    mend: ({ world }) => {
      for (const job of world.coderd.openJobs()) world.coderd.cancelJob(job.id);
    },
    act: 'cancel the builds',
    words: /max 4 is reached/,
    rings: ['job-waits', 'pool-at-max'],
  },
  {
    cause: 'sixty prebuilds at the limit',
    begin: ({ world }) => {
      const template = world.coderd.addTemplate({ organization: 'default', tags: {} });
      world.coderd.addPreset({ template, instances: 60 });
    },
    mend: () => {},
    act: 'nothing',
    words: /prebuild/,
    rings: [],
  },
  {
    cause: 'the key of the pool was deleted in coderd',
    begin: ({ world }) => world.deleteKey('cpu'),
    mend: ({ world }) => world.renewKey('cpu'),
    act: 'store a new key',
    words: /key in secret "coder\/keys\/cpu" is not accepted/,
    rings: ['sight-lost'],
  },
  {
    cause: 'the key was deleted while no task ran',
    prepare: (night) => {
      night.people = false;
    },
    begin: (night) => {
      night.world.deleteKey('cpu');
      night.people = true;
    },
    mend: ({ world }) => world.renewKey('cpu'),
    act: 'store a new key',
    words: /key in secret "coder\/keys\/cpu" is not accepted/,
    rings: ['job-waits', 'starts-failing'],
  },
  {
    cause: "the secret holds another pool's key",
    begin: ({ world }) =>
      world.secrets.put(
        'coder/keys/cpu',
        world.coderd.addKey({ organization: 'default', name: 'other', tags: { gpu: 'a10' } }),
      ),
    mend: ({ world }) => world.renewKey('cpu'),
    act: 'store the right key',
    words: /tags gpu=a10/,
    rings: ['job-waits'],
  },
];
