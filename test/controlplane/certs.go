package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// certLifetime outlives any test run and any afternoon spent looking at a cluster.
const certLifetime = 30 * 24 * time.Hour

// clientGroups lists the clients that get a certificate and a kubeconfig, with their group. All are
// administrators: what tests look at under RBAC is the daemon, which comes with a token.
var clientGroups = map[string]string{
	"admin":                   "system:masters",
	"kube-controller-manager": "system:masters",
	"kube-scheduler":          "system:masters",
	"fake-kubelet":            "system:masters",
}

// identity is a certificate with its private key, both also in PEM.
type identity struct {
	certificate     *x509.Certificate
	key             *ecdsa.PrivateKey
	certPEM, keyPEM []byte
}

// newCertsCommand writes what the components need to trust each other into one folder.
func newCertsCommand() *cobra.Command {
	var dir, server string
	command := &cobra.Command{
		Use:           "certs",
		Short:         "write CA, serving certificate, service account keys and kubeconfigs",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(*cobra.Command, []string) error { return writeCerts(dir, server) },
	}
	command.Flags().StringVar(&dir, "dir", "", "folder to write to; made when missing")
	command.Flags().StringVar(&server, "server", "", "URL of kube-apiserver for the kubeconfigs")
	for _, name := range []string{"dir", "server"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

func writeCerts(dir, server string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca, err := issue(nil, pkix.Name{CommonName: "controlplane-ca"}, nil)
	if err != nil {
		return err
	}
	serving, err := issue(ca, pkix.Name{CommonName: "kube-apiserver"},
		[]string{"localhost", "kubernetes.default.svc"})
	if err != nil {
		return err
	}
	if err := writeServerFiles(dir, ca, serving); err != nil {
		return err
	}
	for name, group := range clientGroups {
		client, err := issue(ca, pkix.Name{CommonName: name, Organization: []string{group}}, nil)
		if err != nil {
			return err
		}
		if err := writeClientFiles(dir, name, server, ca, client); err != nil {
			return err
		}
	}
	return nil
}

// issue makes a key and a certificate for it, signed by ca, or a CA of its own when ca is nil.
func issue(ca *identity, subject pkix.Name, hosts []string) (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := certTemplate(ca, subject, hosts)
	if err != nil {
		return nil, err
	}
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.certificate, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &identity{
		certificate: certificate,
		key:         key,
		certPEM:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM:      pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

func certTemplate(ca *identity, subject pkix.Name, hosts []string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(certLifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	switch {
	case ca == nil:
		template.IsCA = true
		template.BasicConstraintsValid = true
		template.KeyUsage |= x509.KeyUsageCertSign
	case len(hosts) > 0:
		template.DNSNames = hosts
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	default:
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	return template, nil
}

func writeServerFiles(dir string, ca, serving *identity) error {
	accountKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(accountKey)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&accountKey.PublicKey)
	if err != nil {
		return err
	}
	return writeFiles(dir, map[string][]byte{
		"ca.crt":              ca.certPEM,
		"ca.key":              ca.keyPEM,
		"apiserver.crt":       serving.certPEM,
		"apiserver.key":       serving.keyPEM,
		"service-account.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		"service-account.pub": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
	})
}

// writeClientFiles writes NAME.crt, NAME.key and NAME.kubeconfig, which embeds both.
func writeClientFiles(dir, name, server string, ca, client *identity) error {
	files := map[string][]byte{name + ".crt": client.certPEM, name + ".key": client.keyPEM}
	if err := writeFiles(dir, files); err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["controlplane"] = &clientcmdapi.Cluster{
		Server: server, CertificateAuthorityData: ca.certPEM}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: client.certPEM, ClientKeyData: client.keyPEM}
	config.Contexts["controlplane"] = &clientcmdapi.Context{Cluster: "controlplane", AuthInfo: name}
	config.CurrentContext = "controlplane"
	return clientcmd.WriteToFile(*config, filepath.Join(dir, name+".kubeconfig"))
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
