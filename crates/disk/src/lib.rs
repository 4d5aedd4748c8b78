//! Files and directories behind one trait: the real ones, and simulated ones that fail on command.
