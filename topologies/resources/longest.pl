#!/usr/bin/perl
# A bolt that speaks Storm's multilang protocol: the lines that are longer than all before them.
#
# It needs nothing but what Perl comes with. docs/multilang.md explains the protocol.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # what is said is to go at once
my $json = JSON::PP->new->utf8;

# A message is a JSON text, and a line "end".
sub hear {
    my $text = '';
    while (my $line = <STDIN>) {
        return $json->decode($text) if $line eq "end\n";
        $text .= $line;
    }
    exit 0;    # whoever has started this program has gone
}

sub send_message {
    my (%message) = @_;
    print $json->encode(\%message), "\nend\n";
}

sub emit {
    my ($tuple, @values) = @_;
    send_message(command => 'emit', anchors => [$tuple->{id}], tuple => \@values, need_task_ids => JSON::PP::false);
}

# The handshake: the configuration and the context come, the pid goes back, and into a folder as a file's name.
my $setup = hear();
open(my $file, '>', "$setup->{pidDir}/$$") or die "$setup->{pidDir}/$$: $!\n";
close $file;
send_message(pid => $$);

my $longest = 0;
while (1) {
    my $tuple = hear();
    if ($tuple->{stream} eq '__heartbeat') {
        send_message(command => 'sync');
        next;
    }
    my ($number, $line) = @{ $tuple->{tuple} };
    if (length($line) > $longest) {
        $longest = length($line);
        emit($tuple, $number, $longest, $line);
    }
    send_message(command => 'ack', id => $tuple->{id});
}
