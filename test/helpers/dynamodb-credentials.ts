// The local engines take any credentials, but the SDK wants to find some; and never those of the person at the keyboard.
process.env['AWS_ACCESS_KEY_ID'] = 'local';
process.env['AWS_SECRET_ACCESS_KEY'] = 'secret-of-the-test';
process.env['AWS_SESSION_TOKEN'] = 'token-of-the-test';
process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
delete process.env['AWS_PROFILE'];
