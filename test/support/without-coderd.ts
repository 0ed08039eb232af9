/** Lists that are not answered. */
import type { Reading } from '../../lambda/decision/model/snapshot.ts';
import type { Ports } from '../../lambda/look/ports.ts';

export const failed = async (what: string): Promise<Reading<never>> => ({
  status: 'failed',
  error: `${what}: ServiceUnavailableException`,
  items: [],
});

/** The ports while coderd does not answer: no organization is known, so no job is remembered. */
export const withoutCoderd = (ports: Ports): Ports => ({
  ...ports,
  coderd: {
    buildInfo: () => failed('reading the build info'),
    organizations: () => failed('listing organizations'),
    jobs: () => failed('listing jobs'),
    daemons: () => failed('listing daemons'),
    jobsByIds: () => failed('listing jobs'),
    forecast: async () => new Map(),
    recentJobs: () => {
      throw new Error('no organization is known');
    },
    knowsEnd: () => false,
    gone: () => [],
    tokenExpiry: async () => undefined,
    license: async () => ({}),
  },
});
