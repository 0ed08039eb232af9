/** The script that builds the image and pushes it to ECR. */

export type BuildRequest = {
  /** Such as `linux_arm64`. */
  readonly platform: string;
  readonly repository: string;
  readonly tag: string;
};

/** The login password goes through a pipe only. */
export function buildScript({ platform, repository, tag }: BuildRequest): string {
  return `#!/bin/sh
# Written by "autoscaler image" (docs/upgrade.md): builds the image and pushes it to ECR.
# You need docker with buildx, and aws, signed in to the account of the pools.
#   REPOSITORY    another name of the repository in ECR
#   TERRAFORM_RC  a CLI configuration with credentials, for private provider registries
# Arguments go to "docker buildx build", such as --build-arg TERRAFORM_IMAGE=IMAGE.
set -eu
case \${TERRAFORM_RC:-/} in
  /*) ;;
  *) TERRAFORM_RC=$PWD/$TERRAFORM_RC ;;
esac
unset CDPATH
cd -- "$(dirname -- "$0")"
repository=\${REPOSITORY:-${repository}}
tag=${tag}
uri() {
  aws ecr describe-repositories --repository-names "$repository" \\
    --query 'repositories[0].repositoryUri' --output text
}
uri=$(uri 2>/dev/null) || {
  aws ecr create-repository --repository-name "$repository" --image-tag-mutability IMMUTABLE >/dev/null
  uri=$(uri)
}
if aws ecr describe-images --repository-name "$repository" --image-ids "imageTag=$tag" >/dev/null 2>&1; then
  echo "image: $uri:$tag is in ECR already"
  exit
fi
aws ecr get-login-password | docker login --username AWS --password-stdin "\${uri%%/*}"
if [ -n "\${TERRAFORM_RC:-}" ]; then set -- "$@" --secret "id=terraformrc,src=$TERRAFORM_RC"; fi
docker buildx build --platform ${platform.replace('_', '/')} --progress plain --tag "$uri:$tag" --push "$@" .
echo "Set this image in autoscaler.yaml, and deploy:"
echo "  image: $uri:$tag"
`;
}
