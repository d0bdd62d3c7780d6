/** The texts of a command for a terminal. They are loaded with it. */
export const command = {
  copy: 'Copy the command',
  newKey: 'Run this in the folder of the service, with its environment variables, such as DATABASE_URL:',
}
