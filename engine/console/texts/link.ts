/** The texts of the question about a link with a key. */
export const link = {
  title: 'This link has another key',
  text: 'This tab is signed in already. Signing in with the key of the link ends what is in progress here. Other tabs keep their key.',
}
