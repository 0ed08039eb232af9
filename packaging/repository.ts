/**
 * The `repository` of a manifest in GitHub Actions, or undefined elsewhere. npm accepts a
 * provenance only if it names the repository that the workflow runs in.
 */
export function repositoryOf({
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: name,
}: NodeJS.ProcessEnv): { readonly type: 'git'; readonly url: string } | undefined {
  return server && name ? { type: 'git', url: `git+${server}/${name}.git` } : undefined;
}
