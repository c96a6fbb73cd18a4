"""What stands between a change and its prescription: is it valid, may it do harm, must a test come first."""
