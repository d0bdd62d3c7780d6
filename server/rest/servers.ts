import type { oas31 } from 'zod-openapi'

interface PublicAddresses {
  publicUrl: string | undefined
  stagingUrl: string | undefined
}

/**
 * The servers in the OpenAPI document.
 *
 * @param origin of the service, which is used if there is no public URL.
 */
export function serversOf({ publicUrl, stagingUrl }: PublicAddresses, origin: string): oas31.ServerObject[] {
  const isProduction = publicUrl !== undefined && !isLoopback(publicUrl)
  return [
    { url: `${publicUrl ?? origin}/v1`, description: isProduction ? 'Production' : 'This server' },
    ...(stagingUrl ? [{ url: `${stagingUrl}/v1`, description: 'Staging' }] : []),
  ]
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
}
