package main

import (
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
)

// newEtcdCommand is a single-member etcd for tests: loopback only, and without fsync, since nothing
// has to survive a power cut. The data folder belongs on a tmpfs.
func newEtcdCommand() *cobra.Command {
	var dataDir, clientURL, peerURL string
	command := &cobra.Command{
		Use:           "etcd",
		Short:         "single-member etcd without fsync",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			return runEtcd(dataDir, clientURL, peerURL)
		},
	}
	flags := command.Flags()
	flags.StringVar(&dataDir, "data-dir", "", "folder of the data")
	flags.StringVar(&clientURL, "listen-client-url", "", "address for kube-apiserver")
	flags.StringVar(&peerURL, "listen-peer-url", "", "address for peers; there are none")
	for _, name := range []string{"data-dir", "listen-client-url", "listen-peer-url"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

func etcdConfig(dataDir, clientURL, peerURL string) (*embed.Config, error) {
	client, err := url.Parse(clientURL)
	if err != nil {
		return nil, fmt.Errorf("--listen-client-url: %w", err)
	}
	peer, err := url.Parse(peerURL)
	if err != nil {
		return nil, fmt.Errorf("--listen-peer-url: %w", err)
	}
	config := embed.NewConfig()
	config.Name = "controlplane"
	config.Dir = dataDir
	config.ListenClientUrls = []url.URL{*client}
	config.AdvertiseClientUrls = []url.URL{*client}
	config.ListenPeerUrls = []url.URL{*peer}
	config.AdvertisePeerUrls = []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	return config, nil
}

func runEtcd(dataDir, clientURL, peerURL string) error {
	config, err := etcdConfig(dataDir, clientURL, peerURL)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
		fmt.Fprintln(os.Stderr, "etcd is ready")
	case err := <-server.Err():
		return err
	case <-stop:
		return nil
	}
	select {
	case err := <-server.Err():
		return err
	case <-stop:
		return nil
	}
}
